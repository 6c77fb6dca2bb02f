// markdown
