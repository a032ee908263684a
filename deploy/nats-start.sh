#!/bin/sh
# Starts the broker: with ANNALS_PASSWORD everyone must give it; without, everyone on this machine is let in.
# With ANNALS_PERSON_PASSWORD people must give that one, so that no harness can decide in their place.
set -eu
password=${ANNALS_PASSWORD:-}
person=${ANNALS_PERSON_PASSWORD:-$password}
bind=${ANNALS_BIND:-127.0.0.1}

fail() {
  echo "annals: $1" >&2
  exit 1
}

case $password in
  *[\"\\]*) fail 'ANNALS_PASSWORD may not hold quotation marks or backslashes; try `openssl rand -hex 24`' ;;
esac
case $person in
  *[\"\\]*) fail 'ANNALS_PERSON_PASSWORD may not hold quotation marks or backslashes; try `openssl rand -hex 24`' ;;
esac
if [ -z "$password" ] && [ -n "$person" ]; then
  fail 'ANNALS_PERSON_PASSWORD is set, but without ANNALS_PASSWORD anyone is let in as everybody; set both in .env, or none'
fi
if [ -z "$password" ]; then
  case $bind in
    127.* | localhost | ::1 | "[::1]") ANNALS_GUEST=room ;;
    *) fail "ANNALS_BIND is $bind, so anyone who reaches it could read and write everything; set ANNALS_PASSWORD in .env, or leave ANNALS_BIND at 127.0.0.1" ;;
  esac
else
  ANNALS_GUEST='""'
fi

# The server reads a variable as a piece of configuration, so it must come quoted.
export ANNALS_GUEST ANNALS_PASSWORD="\"$password\"" ANNALS_PERSON_PASSWORD="\"$person\""
exec nats-server -c "${0%/*}/nats.conf" "$@"
