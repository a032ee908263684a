"""Rules that recur, or that hold as long as something else does; and what tells of the moment in the same words.

The rules of the gate were made with `SEEN` at hand. `UNSEEN` was set aside, and judges them.
"""

SEEN_GOOD = (
    "Deploys go out on Tuesdays only, because the ops team is there then.",
    "The feature flag new_tariff is off in production until the audit is over.",
    "Backups run every night at two, so migrations wait until they are done.",
    "On Fridays nobody merges into main.",
    "The old API stays up as long as the kiosk at pier three uses it.",
    "Until the port authority has signed, invoices carry no tax number.",
    "Dependencies are updated on the first Monday of each month.",
    "While the harbour is closed, the scheduler accepts no bookings.",
    "Releases are frozen in December.",
    "Deployed wird nur dienstags, weil die Leute dann da sind.",
    "Bis das Audit vorbei ist, bleibt der Schalter aus.",
    "Les mises en production se font le mardi seulement.",
    "Hasta que acabe la auditoría, el interruptor queda apagado.",
    "Пока идёт аудит, флаг выключен.",
    "审计结束之前，该开关保持关闭。",  # noqa: RUF001 - the comma of Chinese
)
SEEN_JUNK = (
    "The deploy is on Tuesday.",
    "I am waiting until the build is over.",
    "The flag is off right now.",
    "We are blocked until tomorrow.",
    "The tests ran until the machine was out of memory.",
    "It was down on Friday, but it is up again.",
    "I will look at it on Monday when Dana is back.",
    "The build is red until someone looks at it.",
    "While I was looking at the log, the server restarted.",
    "Ich warte, bis der Build fertig ist.",
    "Wait until the tests are done, then push.",
    "Last Tuesday the deploy failed.",
)
UNSEEN_GOOD = (
    "Migrations run on Sundays only, when no ship is booked.",
    "The payment sandbox is used in staging until the bank has approved us.",
    "Reports go to the customs office every Thursday.",
    "As long as Node 18 is supported, no top-level await in the plugin.",
    "The crane service is read-only while the yard is being counted.",
    "On weekdays deploys need two approvals, on weekends none are made.",
    "Twice a year the tide tables are imported by hand.",
    "The legacy importer stays until the last partner has moved to v2.",
    "Feature branches live two weeks at most, after that they are deleted.",
    "Nightly builds use the beta channel, because the release channel is signed by hand.",
    "If the tide is below one metre, bookings need the harbour master's approval.",
    "Until the new contract starts, prices are net of tax.",
    "Montags werden keine Schemata geändert, weil dann abgerechnet wird.",
    "Solange der Kran gewartet wird, nimmt der Planer keine Buchungen an.",
    "Le cache reste désactivé tant que la migration n'est pas terminée.",
    "Los viernes no se publica nada.",
    "Fino alla fine della verifica il registro è in sola lettura.",
    "Até o contrato novo começar, os preços ficam sem imposto.",
    "По пятницам ничего не выкатываем.",
    "毎週月曜日に依存関係を更新する。",
    "매주 화요일에만 배포한다.",
    "每周二才发布，因为那天运维在。",  # noqa: RUF001 - the comma of Chinese
)
UNSEEN_JUNK = (
    "The migration runs on Sunday, so I will be around.",
    "I keep polling until the bank answers.",
    "The report goes out this Thursday.",
    "We can merge as soon as you have looked at it.",
    "The crane service was read-only while you were counting.",
    "On the weekend I tried the new importer.",
    "The importer hung until I killed it.",
    "My branch is two weeks old.",
    "The nightly build failed again because of the signature.",
    "Let's leave it until the tide is back.",
    "The page is blank until you reload it.",
    "Am Montag hat das Schema nicht gepasst.",
    "Ich lasse den Kran so, bis du fertig bist.",
    "On attend jusqu'à demain.",
    "El viernes falló la publicación.",
    "Ночью упал деплой.",
    "先等到测试跑完再说。",
    "月曜日に直しました。",
)
SEEN, UNSEEN = (SEEN_GOOD, SEEN_JUNK), (UNSEEN_GOOD, UNSEEN_JUNK)
