// formats/atomic_file
