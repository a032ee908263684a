#!/bin/sh
# Starts the broker: with passwords, one for each kind of user, everyone must give theirs; with none of them everyone on
# this machine is let in. What a harness knows opens neither what rooms may do nor what people decide.
set -eu
harness=${ANNALS_PASSWORD:-}
room=${ANNALS_ROOM_PASSWORD:-}
person=${ANNALS_PERSON_PASSWORD:-}
bind=${ANNALS_BIND:-127.0.0.1}
make='`openssl rand -hex 24` prints one'

fail() {
  echo "annals: $1" >&2
  exit 1
}

check() {
  case $2 in
    *[\"\\]*) fail "$1 may not contain quotation marks or backslashes; $make" ;;
    '$2a$'* | '$2b$'* | '$2x$'* | '$2y$'*) fail "$1 begins as a hash of a password does, and the broker would take it for one; $make" ;;
    "") fail "$1 is empty while another password is set, so anyone would be let in as one who needs none; set ANNALS_PASSWORD, ANNALS_ROOM_PASSWORD and ANNALS_PERSON_PASSWORD in .env, or none of them; $make" ;;
  esac
}

differ() {
  [ "$2" != "$4" ] || fail "$1 and $3 are the same, so who knows one could do what only the other may; set another one in .env; $make"
}

if [ -z "$harness$room$person" ]; then
  case $bind in
    127.* | localhost | ::1 | "[::1]") guest=room ;;
    *) fail "ANNALS_BIND is $bind, so anyone who reaches it could read and write everything; set ANNALS_PASSWORD, ANNALS_ROOM_PASSWORD and ANNALS_PERSON_PASSWORD in .env, or leave ANNALS_BIND at 127.0.0.1" ;;
  esac
else
  check ANNALS_PASSWORD "$harness"
  check ANNALS_ROOM_PASSWORD "$room"
  check ANNALS_PERSON_PASSWORD "$person"
  differ ANNALS_PASSWORD "$harness" ANNALS_ROOM_PASSWORD "$room"
  differ ANNALS_PASSWORD "$harness" ANNALS_PERSON_PASSWORD "$person"
  differ ANNALS_ROOM_PASSWORD "$room" ANNALS_PERSON_PASSWORD "$person"
  guest='""'
fi

# What its store may take: what it has, and what its disk has free, less a reserve for whoever else writes there (256 MiB, or
# a quarter of what is free). Then a message without room is refused; with its disk full the server would answer nobody.
store=$(sed -n 's/^ *store_dir: "\(.*\)".*/\1/p' "${0%/*}/nats.conf")
free=$(df -Pk "$store" | awk 'NR > 1 {print $4}')
used=$(du -sk "$store" | awk '{print $1}')
reserve=$((free / 4 < 262144 ? free / 4 : 262144))
export ANNALS_STORE="$(((used + free - reserve) * 1024))"

# The server reads a variable as a piece of configuration, so it must come quoted.
export ANNALS_GUEST="$guest" ANNALS_PASSWORD="\"$harness\"" ANNALS_ROOM_PASSWORD="\"$room\"" ANNALS_PERSON_PASSWORD="\"$person\""
exec nats-server -c "${0%/*}/nats.conf" "$@"
