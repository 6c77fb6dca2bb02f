// text_catalog
