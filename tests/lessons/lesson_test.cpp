// lesson_test
