// text_catalog_test
