// lesson
