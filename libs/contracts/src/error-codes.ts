/** What kind of failure a code is: the docs page, the SDK's union and `problem+json` are all made from this table. */
interface ErrorRow {
  readonly status: number;
  readonly title: string;
  /** `later`: the same request may succeed if repeated. `never`: change something first. */
  readonly retry: 'never' | 'later';
  /** What a person does about it, in one sentence. */
  readonly nextStep: string;
}

/** Every failure that leaves a process has a code here. Add a row; docs/errors/ is generated from it. */
export const ERRORS = {
  'request.invalid': { status: 400, title: 'The request is not valid', retry: 'never', nextStep: 'Correct the fields that are listed and send it again.' },
  'request.not-json': { status: 400, title: 'The body is not JSON', retry: 'never', nextStep: 'Send a JSON body with content-type application/json.' },
  'request.too-large': { status: 413, title: 'The body is too large', retry: 'never', nextStep: 'Send less; put large content into a file of the repository.' },
  'request.cross-site': {
    status: 403,
    title: 'The request came from another site',
    retry: 'never',
    nextStep: 'Call the API from its own origin, or use an API key instead of the cookie.',
  },
  'auth.missing': { status: 401, title: 'Sign in or send an API key', retry: 'never', nextStep: 'Sign in again.' },
  'auth.unavailable': {
    status: 503,
    title: 'The sign-in service does not answer',
    retry: 'later',
    nextStep: 'Wait a moment and try again; people already signed in are not affected.',
  },
  'auth.sign-in-failed': { status: 400, title: 'The sign-in did not complete', retry: 'never', nextStep: 'Start the sign-in again.' },
  'permission.denied': {
    status: 403,
    title: 'Your role does not allow this',
    retry: 'never',
    nextStep: 'Ask an admin of the organization for the permission that is named.',
  },
  'resource.not-found': {
    status: 404,
    title: 'There is no such resource',
    retry: 'never',
    nextStep: 'Check the address; it may have been deleted, or belong to another organization.',
  },
  'idempotency.mismatch': {
    status: 422,
    title: 'This idempotency key was used with another body',
    retry: 'never',
    nextStep: 'Use a new key for a new request.',
  },
  'idempotency.in-progress': {
    status: 409,
    title: 'The first request with this key is still running',
    retry: 'later',
    nextStep: 'Wait for it; the same key then answers with its result.',
  },
  'rate.limited': { status: 429, title: 'Too many requests', retry: 'later', nextStep: 'Wait for the time in Retry-After.' },
  'conversation.busy': { status: 409, title: 'The conversation is running', retry: 'later', nextStep: 'Stop it first, or wait until it has finished.' },
  'conversation.not-running': { status: 409, title: 'The conversation is not running', retry: 'never', nextStep: 'Send a message to start it again.' },
  'conversation.queue-full': {
    status: 429,
    title: 'Too many messages are waiting',
    retry: 'later',
    nextStep: 'Wait until the agent has taken some of them in.',
  },
  'conversation.no-workspace': {
    status: 409,
    title: 'There is no workspace to read',
    retry: 'later',
    nextStep: 'Wait until the sandbox has started, or resume the conversation.',
  },
  'ingest.stale-epoch': {
    status: 409,
    title: 'Another sandbox owns this conversation now',
    retry: 'never',
    nextStep: 'Stop writing; a newer sandbox has taken over.',
  },
  'ingest.gap': { status: 409, title: 'A batch is missing before this one', retry: 'never', nextStep: 'Send again from the position in the answer.' },
  'sandbox.no-capacity': {
    status: 503,
    title: 'No room for another sandbox',
    retry: 'later',
    nextStep: 'It is tried again by itself; an admin can raise the pool or its quota.',
  },
  'sandbox.quota': {
    status: 409,
    title: 'The organization runs as many sandboxes as it may',
    retry: 'later',
    nextStep: 'Stop or pause another conversation, or ask an admin to raise the quota.',
  },
  'sandbox.start-failed': { status: 502, title: 'The sandbox did not start', retry: 'later', nextStep: 'Try again; the detail names the cause.' },
  'sandbox.unknown-template': {
    status: 422,
    title: 'There is no such sandbox template',
    retry: 'never',
    nextStep: 'Use one of the images, sizes and runtime classes that the detail names, or leave them out.',
  },
  'sandbox.reserved-label': {
    status: 422,
    title: 'The label is reserved',
    retry: 'never',
    nextStep: 'Leave out labels that begin with slipway.dev/.',
  },
  'sandbox.image-unavailable': {
    status: 503,
    title: "The sandbox's image cannot be pulled",
    retry: 'later',
    nextStep: 'An operator checks the name, the digest and the pull secret of the image; the detail has the words of the cluster.',
  },
  'sandbox.unschedulable': {
    status: 503,
    title: 'No node of the cluster has room for the sandbox',
    retry: 'later',
    nextStep: 'It starts when a node has room; an operator adds nodes or lowers the size of the template.',
  },
  'sandbox.refused': {
    status: 502,
    title: 'The cluster refuses the sandbox',
    retry: 'never',
    nextStep: 'An operator corrects the template; the detail has the words of the cluster.',
  },
  'sandbox.forbidden': {
    status: 502,
    title: 'The cluster does not let Slipway do this',
    retry: 'never',
    nextStep: 'An operator applies the Role of the sandbox namespace (deploy/kubernetes) and checks the credentials of runtime-api.',
  },
  'sandbox.cluster-unavailable': {
    status: 503,
    title: 'The API server of the cluster does not answer',
    retry: 'later',
    nextStep: 'Running conversations go on; new sandboxes come from those that are warm. It is tried again by itself.',
  },
  'sandbox.unreachable': {
    status: 502,
    title: 'The sandbox does not answer',
    retry: 'later',
    nextStep: 'It is restarted by itself; nothing that was acknowledged is lost.',
  },
  'sandbox.paused': {
    status: 503,
    title: 'The sandbox is paused',
    retry: 'later',
    nextStep: 'Resume the conversation or send it a message; reaching into a sandbox never starts it.',
  },
  'sandbox.starting': { status: 503, title: 'The sandbox is starting', retry: 'later', nextStep: 'Wait for the time in Retry-After and try again.' },
  'sandbox.not-running': {
    status: 503,
    title: 'The conversation has no sandbox now',
    retry: 'later',
    nextStep: 'Send a message to the conversation; reaching into a sandbox never starts it.',
  },
  'sandbox.timeout': { status: 504, title: 'The sandbox took too long', retry: 'later', nextStep: 'Try again; what runs in the sandbox may be stuck.' },
  'sandbox.port-closed': {
    status: 403,
    title: 'This port of the sandbox cannot be reached',
    retry: 'never',
    nextStep: 'Use a port that can be reached; the detail says which.',
  },
  'sandbox.no-gateway': {
    status: 501,
    title: 'This installation has no way into sandboxes',
    retry: 'never',
    nextStep: 'An operator sets SANDBOX_GATEWAY_URL and SANDBOX_ACCESS_SECRET of app-server.',
  },
  'sandbox.already-activated': { status: 409, title: 'This sandbox belongs to another claim', retry: 'never', nextStep: 'Claim another sandbox.' },
  'sandbox.dormant': { status: 503, title: 'The sandbox has not been activated', retry: 'later', nextStep: 'Activate it first.' },
  'sandbox.disk-full': {
    status: 507,
    title: 'The disk of the sandbox is full',
    retry: 'never',
    nextStep: 'Delete files in the workspace, then send a message to go on.',
  },
  'sandbox.tool-unavailable': {
    status: 503,
    title: 'The tool process of the sandbox is restarting',
    retry: 'later',
    nextStep: 'The agent tries again by itself.',
  },
  'sandbox.archive-unavailable': {
    status: 503,
    title: 'The store of workspaces does not answer',
    retry: 'later',
    nextStep: 'Nothing that was kept is lost; try again when the store is there.',
  },
  'sandbox.archive-too-large': {
    status: 413,
    title: 'The workspace is too large to be kept',
    retry: 'never',
    nextStep: 'Delete files in the workspace, or ask for a larger limit.',
  },
  'sandbox.archive-broken': {
    status: 422,
    title: 'The kept workspace could not be put into the sandbox',
    retry: 'never',
    nextStep: 'The detail names the cause; this sandbox is given up, the kept workspace stays as it is.',
  },
  'repository.not-found': {
    status: 422,
    title: 'The repository cannot be read',
    retry: 'never',
    nextStep: 'Check the URL; a private repository needs a connected git provider.',
  },
  'repository.private': {
    status: 422,
    title: 'The repository asks for a password',
    retry: 'never',
    nextStep: 'Use a public URL, or connect the git provider that holds it.',
  },
  'repository.branch-not-found': { status: 422, title: 'The branch does not exist', retry: 'never', nextStep: 'Choose a branch that the repository has.' },
  'repository.unreachable': { status: 502, title: 'The git server does not answer', retry: 'later', nextStep: 'Try again in a moment.' },
  'setup.failed': {
    status: 422,
    title: 'The setup script failed',
    retry: 'never',
    nextStep: 'Read its output in the start steps, correct the script, and try again.',
  },
  'setup.timeout': {
    status: 422,
    title: 'The setup script did not end in time',
    retry: 'never',
    nextStep: 'Make it faster, or raise SETUP_SCRIPT_TIMEOUT_SECONDS.',
  },
  'file.not-found': { status: 404, title: 'There is no such file', retry: 'never', nextStep: 'Check the path.' },
  'file.binary': { status: 415, title: 'The file is not text', retry: 'never', nextStep: 'Download it instead of viewing it.' },
  'file.too-large': { status: 413, title: 'The file is too large to show', retry: 'never', nextStep: 'Download it, or view a range of lines.' },
  'file.outside-workspace': { status: 403, title: 'The path is outside the workspace', retry: 'never', nextStep: 'Use a path inside the workspace.' },
  'model.auth': { status: 401, title: 'The model provider refused the key', retry: 'never', nextStep: 'Correct LLM_API_KEY.' },
  'model.quota': { status: 402, title: 'The model provider says the credit is used up', retry: 'never', nextStep: 'Add credit at the provider.' },
  'model.rate-limited': { status: 429, title: 'The model provider limits the rate', retry: 'later', nextStep: 'It is tried again by itself.' },
  'model.unavailable': {
    status: 502,
    title: 'The model does not answer',
    retry: 'later',
    nextStep: 'It is tried again by itself; then send a message to go on.',
  },
  'model.timeout': { status: 504, title: 'The model took too long', retry: 'later', nextStep: 'Send a message to try again.' },
  'model.bad-response': {
    status: 502,
    title: 'The model answered something that is not a completion',
    retry: 'later',
    nextStep: 'Send a message to try again, or choose another model.',
  },
  'model.unknown': { status: 404, title: 'There is no such model', retry: 'never', nextStep: 'Choose a model from GET /v1/models.' },
  'model.context-exceeded': {
    status: 400,
    title: 'The conversation is longer than the model can read',
    retry: 'never',
    nextStep: 'Start a new conversation, or choose a model with a larger context.',
  },
  'agent.iteration-limit': { status: 409, title: 'The agent used all its steps', retry: 'never', nextStep: 'Send a message to let it go on.' },
  'agent.stuck': { status: 409, title: 'The agent repeats itself', retry: 'never', nextStep: 'Send a message that tells it what to do differently.' },
  'config.invalid': { status: 500, title: 'The configuration is not valid', retry: 'never', nextStep: 'Correct the variables that are listed.' },
  'service.unavailable': { status: 503, title: 'A part of the system does not answer', retry: 'later', nextStep: 'Wait a moment and try again.' },
  'internal.unexpected': {
    status: 500,
    title: 'Something broke on our side',
    retry: 'later',
    nextStep: 'Try again; if it stays, quote the request id to support.',
  },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;
export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
