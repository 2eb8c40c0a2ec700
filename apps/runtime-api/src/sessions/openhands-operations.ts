/**
 * Every operation of OpenHands' Runtime API that one of its clients calls, and what becomes of it here.
 * `runtimes.http.test.ts` holds it against the routes, `docs/compatibility.md` is made from it.
 */
export interface RuntimeOperation {
  readonly method: 'GET' | 'POST';
  /** Parameters in braces. */
  readonly path: string;
  /** `more`: the same with additions. `not-here`: refused with 501. */
  readonly state: 'same' | 'more' | 'differs' | 'not-here';
  /** In which way; empty when there is nothing to say. */
  readonly note: string;
  /** Who calls it: the SDK's `APIRemoteWorkspace`, the app server of V1, the `RemoteRuntime` of V0. */
  readonly callers: ReadonlyArray<'SDK' | 'V1' | 'V0'>;
}

const ALL = ['SDK', 'V1', 'V0'] as const;
const NO_IMAGES =
  'Images are the installation’s own, each with warm sandboxes: name one of `/api/warm-runtime-configs`, or none.';

export const runtimeOperations: readonly RuntimeOperation[] = [
  {
    method: 'POST',
    path: '/start',
    state: 'more',
    note: 'Answers with a warm sandbox that is `ready` on the first poll, or 503 with place, estimate and reason. `command`, users and `working_dir` count for the identity of the request only; an image that is not a template is a 422 that names those there are; `sysbox-runc` means no class where no template has it.',
    callers: ALL,
  },
  {
    method: 'GET',
    path: '/sessions/{session}',
    state: 'more',
    note: '`status` and `pod_status` are both there and say the same.',
    callers: ALL,
  },
  { method: 'GET', path: '/sessions/batch', state: 'same', note: 'A list of those that exist.', callers: ['V1'] },
  { method: 'GET', path: '/list', state: 'same', note: '', callers: ['V1'] },
  { method: 'GET', path: '/runtime/{runtime}', state: 'same', note: '', callers: ['V0'] },
  {
    method: 'POST',
    path: '/pause',
    state: 'same',
    note: 'The workspace and the log stay, processes end.',
    callers: ALL,
  },
  {
    method: 'POST',
    path: '/resume',
    state: 'differs',
    note: 'The session key stays: one client takes a new one from the answer, the other keeps its old one, and both work. On Kubernetes the sandbox has another address, which only a client that reads it again finds.',
    callers: ALL,
  },
  { method: 'POST', path: '/stop', state: 'same', note: 'The workspace is deleted an hour later.', callers: ALL },
  { method: 'GET', path: '/api/warm-runtime-configs', state: 'same', note: 'Each template.', callers: ['V1'] },
  {
    method: 'GET',
    path: '/registry_prefix',
    state: 'same',
    note: 'Empty: nothing stands before the names of images.',
    callers: ['V0'],
  },
  { method: 'GET', path: '/image_exists', state: 'same', note: 'Says whether a template has it.', callers: ['V0'] },
  { method: 'POST', path: '/build', state: 'not-here', note: NO_IMAGES, callers: ['V0'] },
  { method: 'GET', path: '/build_status', state: 'not-here', note: NO_IMAGES, callers: ['V0'] },
];
