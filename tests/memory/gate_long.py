"""Longer sentences, as agents write them into a memory or a summary. Rules were made with these, too."""

GOOD = (
    "The auth middleware caches the key set for ten minutes, so a rotated key takes that long to be accepted.",
    (
        "Orders are written by the checkout service and read by everybody else through the order events, never "
        "from the table."
    ),
    (
        "When a column is renamed, the old one stays for one release, because both versions run at the same time "
        "during a deploy."
    ),
    (
        "The frontend is split in three packages: `shell` loads the others, `catalog` and `account` may not "
        "import each other."
    ),
    (
        "Running the integration tests requires `docker compose up -d db cache` first; without it they fail with "
        "a connection error."
    ),
    "User wants commits to be small and each one to pass the whole suite on its own.",
    "The team prefers explicit SQL over the query builder, since the generated queries were hard to tune.",
    "Prices are computed on the server only; the client shows what it gets and never adds anything up.",
    "The vendor API accepts 5 requests per second, which is why the importer sleeps between pages.",
    "`apps/worker/src/index.ts` is the entry point of the worker and registers all consumers.",
    "The build output in dist/ is committed, because the action is run straight from the repository.",
    "A flaky test is fixed or deleted within a week; nobody adds a retry.",
    "The cron expression in infra/jobs.tf is in UTC although the dashboard shows local time.",
    (
        "The desktop app and the server agree on a protocol version at connect, and the server refuses clients "
        "that are two versions behind."
    ),
    "All user-visible strings are in `locales/en.json`; the other languages are filled in by the translation service.",
    "Don't run `npm install` in a package folder, as it creates a second lock file that breaks the workspace.",
    (
        "Uploads go to the bucket first and are only then recorded in the database, so an orphan in the bucket is "
        "harmless."
    ),
    "The `legacy` flag on customers means that they were imported from the old system and have no password.",
    "Vitest picks up files named *.spec.ts only, *.test.ts belongs to the old Jest setup and is ignored.",
    "Every public method of the SDK has an example in its doc comment which is compiled in CI.",
    "The state machine of an order is in domain/order.py, and no other module sets the status field.",
    "To add a provider, implement the `Provider` interface and list it in registry.go.",
    "The tests use a fixed clock, so code has to take the time from `clock.now()`.",
    "Emails are sent by a queue worker, because the SMTP relay is slow at peak times.",
    "If the feature service is down, all flags count as off.",
    "Merge commits are not allowed on main; rebase and fast-forward.",
    "Screens with forms use the shared `useForm` hook, which handles validation and dirty state.",
    "The database user of the app has no DDL rights, so migrations run under a separate account.",
    "Numbers above 2^53 are sent as strings, since JavaScript clients would lose digits.",
    "Metrics are named `<service>_<what>_<unit>`, and a new one needs an entry in the dashboard repo.",
    "The search page debounces input by 300 ms; product asked for this and it should stay.",
    "We keep two copies of the proto files on purpose: the public one may lag behind.",
    "The repository uses conventional commits, from which the changelog is generated.",
    "The user works on Windows, therefore scripts have to run in PowerShell as well.",
    "Don't trust the `createdAt` of imported records, they carry the time of the import.",
    "GET requests never change anything, not even a last-seen timestamp.",
    "The linter forbids console.log; use the logger from @acme/log.",
    "Deleting an account keeps the invoices, as the law demands it for ten years.",
    "The mobile release train leaves every other Wednesday, and what is not merged by Monday waits.",
    "Images in the docs are made with scripts/shots.ts and must not be edited by hand.",
)
JUNK = (
    "I went through the three call sites and only one of them passes the flag, so the change should be safe.",
    "After the update the page renders fine, but the console shows a warning about a missing key.",
    "The migration ran on staging without errors and took about four minutes for two million rows.",
    "Looks like the mock in the second test returns a list where the code wants an iterator.",
    "The reviewer suggested to extract the parsing into its own function, which I did in the last commit.",
    "Before I change anything I want to understand why the timeout is set twice.",
    "The user said that the export is too slow and asked me to look at the query.",
    "We agreed to leave the old route in place until the mobile release is out next week.",
    "Added the missing index and the query went down from 900 ms to 20 ms.",
    "The remaining type errors come from the generated client and will disappear once it is rebuilt.",
    "Tests for the happy path are in place, the ones for errors are still to be written.",
    "The failing assertion compares a date with a string, hence the confusing message.",
    "I could not find where the variable is set, it may come from the deploy script.",
    "If you want, I can also convert the other modules in the same way.",
    "Let me first reproduce the bug with a small script and then decide how to fix it.",
    "The PR now has two approvals and is only waiting for the pipeline.",
    "Renamed the prop in all components, updated the stories and removed the old alias.",
    "The modal opens behind the overlay since its z-index is lower than before.",
    "Two of the snapshots had to be updated because the class names changed.",
    "For the demo tomorrow please hide the beta tab and use the test account.",
    "The endpoint responds with 500 when the list is empty; I will add a guard.",
    "My plan: extract the type, move the helper, adapt the imports, run the suite.",
    "The user confirmed that the new wording is fine and wants to continue with the settings page.",
    "Currently the worker crashes on start because the variable is not defined in my shell.",
    "The last three commits on this branch belong together and can be squashed.",
    "As a next step the form could get a loading indicator, but that is optional.",
    "There were five places with the old pattern, four of them are converted.",
    "The command printed nothing, so either the filter is wrong or there are no rows.",
    "Once the tests pass I'll commit this and open the pull request.",
    "The diff looks bigger than it is, most of it is indentation.",
    "It took a while, but the suite is green again and the coverage did not drop.",
    "The problem was a stale build: after deleting the folder it works.",
    "Please undo the change to the config and keep only the one to the loader.",
    "The new hook is called in three components now, the fourth one follows tomorrow.",
    "The dropdown in the header covers the search field on narrow screens.",
    "Session goal was to get rid of the warnings, which is done except for two.",
    "I would keep the function as it is and only add a comment.",
    "The log has 40 entries per second, most of them from the health check.",
    "Nothing in the output points to the cause, next I'll turn on debug logging.",
    "The function receives the id but then looks the user up by name, that is the bug.",
)
LONG = (GOOD, JUNK)
