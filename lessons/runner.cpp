// runner
