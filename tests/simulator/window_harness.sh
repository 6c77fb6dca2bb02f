# What the tests of real windows share: a display of their own, looks at its pixels, clicks. Source it with `folder` set.
# shellcheck shell=bash
: "${folder:?}"
for tool in Xvfb xdotool python3; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
mkdir -p "$folder"
rm -rf "${folder:?}"/*
server="" window_program=""
finish() {
  [ -n "$window_program" ] && kill "$window_program" 2>/dev/null
  [ -n "$server" ] && kill "$server" 2>/dev/null
  wait 2>/dev/null
}
trap finish EXIT
fail() {
  echo "failed: $1"
  cat "$folder/errors" 2>/dev/null
  exit 1
}

# the server picks a free display number itself; its screen is a file that can be read
start_server() {
  rm -f "$folder/display"
  # -noreset: else the server begins anew whenever its last client leaves, with the pointer in the middle
  Xvfb -noreset -displayfd 3 -screen 0 1600x900x24 -fbdir "$folder" 3>"$folder/display" >/dev/null 2>&1 &
  server=$!
  for _ in $(seq 100); do [ -s "$folder/display" ] && break; sleep 0.1; done
  DISPLAY=:$(cat "$folder/display")
  export DISPLAY LP_NUM_THREADS=1
  xdotool getdisplaygeometry >/dev/null 2>&1
}
# a server that ends elsewhere at this moment may take the socket of the same number with it
started=no
for _ in 1 2 3; do
  start_server && { started=yes; break; }
  kill "$server" 2>/dev/null
done
[ "$started" = yes ] || fail "Xvfb did not start"

# open_window PROGRAM ARGUMENTS…: starts it on the display, with a state folder of its own
open_window() {
  HEADSCOPE_STATE=$folder/state "$@" >"$folder/out" 2>"$folder/errors" &
  window_program=$!
}

# the window's title tells the step: "Headscope: TITLE, step 1 of 2"
title_becomes() {
  for _ in $(seq 150); do
    kill -0 "$window_program" 2>/dev/null || fail "the program ended"
    window=$(xdotool search --name "$1" 2>/dev/null | head -n 1)
    [ -n "$window" ] && return 0
    sleep 0.2
  done
  fail "no window became \"$1\""
}

# a checksum of the stage, and whether it shows more than two colours
stage() {
  python3 - "$folder/Xvfb_screen0" <<'PYTHON'
import struct, sys, zlib
screen = open(sys.argv[1], "rb").read()
header = struct.unpack(">25I", screen[:100])  # XWDFile.h: sizes, then the colours, then the rows
start, row_bytes = header[0] + header[19] * 12, header[12]
rows = [screen[start + y * row_bytes + 450 * 4:start + y * row_bytes + 1150 * 4] for y in range(80, 740)]
pixels = b"".join(rows)
colours = {pixels[at:at + 4] for at in range(0, len(pixels), 4)}
print(zlib.crc32(pixels), "many" if len(colours) > 2 else "few")
PYTHON
}
# waits until two looks agree, since a software rasteriser takes its time
settled() {
  local last="" now
  for _ in $(seq 50); do
    now=$(stage)
    [ "$now" = "$last" ] && break
    last=$now
    sleep 0.5
  done
  echo "$now"
}
# a picture comes when it comes: a sanitized build under load takes seconds
stage_becomes() {
  for _ in $(seq 60); do
    [ "$(stage)" = "$1" ] && return 0
    sleep 0.3
  done
  return 1
}
stage_leaves() {
  for _ in $(seq 60); do
    [ "$(stage)" != "$1" ] && return 0
    sleep 0.3
  done
  return 1
}
click() {
  xdotool mousemove "$1" "$2"
  sleep 0.5
  xdotool click 1
  sleep 0.5
}

# closed as a window manager closes it: by a WM_DELETE_WINDOW message
close_window() {
  python3 - "$window" <<'PYTHON'
import ctypes, sys
class Message(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("serial", ctypes.c_ulong), ("send_event", ctypes.c_int),
                ("display", ctypes.c_void_p), ("window", ctypes.c_ulong), ("message_type", ctypes.c_ulong),
                ("format", ctypes.c_int), ("data", ctypes.c_long * 5), ("rest", ctypes.c_long * 24)]
x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
x11.XInternAtom.restype = ctypes.c_ulong
x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
x11.XSendEvent.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_long, ctypes.c_void_p]
x11.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
display = x11.XOpenDisplay(None)
client_message, window = 33, int(sys.argv[1])
message = Message(type=client_message, window=window, format=32,
                  message_type=x11.XInternAtom(display, b"WM_PROTOCOLS", 0))
message.data[0] = x11.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
x11.XSendEvent(display, window, 0, 0, ctypes.byref(message))
x11.XSync(display, 0)
PYTHON
  for _ in $(seq 50); do kill -0 "$window_program" 2>/dev/null || break; sleep 0.1; done
  kill -0 "$window_program" 2>/dev/null && fail "a closed window did not end the program"
  wait "$window_program" || fail "a closed window ended with status $?"
  window_program=""
}
