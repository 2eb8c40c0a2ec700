import { createHash } from 'node:crypto';
import { StartRuntime } from '@slipway/contracts';
import { parseOrThrow, SlipwayError } from '@slipway/errors';

/** Largest environment of one sandbox, as JSON. UTF-16 code units. */
const MAX_ENVIRONMENT_LENGTH = 256 * 1024;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface StartRequest {
  readonly sessionId: string;
  /** SHA-256 of what was asked for: another one under the same session id is another request. */
  readonly hash: string;
  /** JSON of the environment, its names sorted. */
  readonly environment: string;
}

/**
 * The body of /start. `command`, users, classes and sizes are what real clients send for pods that they describe themselves; blank sandboxes are running already,
 * and the process backend sets no limits, so they only count for the identity of the request.
 * @throws SlipwayError `request.invalid` that names every wrong field, and for an unknown image the known ones.
 */
export function readStartRequest(body: unknown, knownImages: readonly string[]): StartRequest {
  const request = parseOrThrow(StartRuntime, body);
  if (request.image !== undefined && !knownImages.includes(request.image)) {
    const message = `"${request.image.slice(0, 200)}" is not an image of this installation; leave it out, or use one of: ${knownImages.join(', ')}`;
    throw new SlipwayError('request.invalid', `image: ${message}`, { fields: [{ path: 'image', message }] });
  }
  const variables = Object.entries(request.environment ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const badName = variables.find(([name, value]) => !VARIABLE_NAME.test(name) || value.includes('\0'));
  if (badName !== undefined) {
    const message = `"${badName[0].slice(0, 100)}" cannot be a variable: names are letters, digits and _, values hold no NUL`;
    throw new SlipwayError('request.invalid', `environment: ${message}`, { fields: [{ path: 'environment', message }] });
  }
  const environment = JSON.stringify(Object.fromEntries(variables));
  if (environment.length > MAX_ENVIRONMENT_LENGTH)
    throw new SlipwayError('request.too-large', `The environment is larger than ${MAX_ENVIRONMENT_LENGTH / 1024} KiB.`);
  const { image, command, working_dir, resource_factor, runtime_class, run_as_user, run_as_group, fs_group } = request;
  const identity = JSON.stringify([image, command, working_dir, resource_factor, runtime_class, run_as_user, run_as_group, fs_group, environment]);
  return { sessionId: request.session_id, hash: createHash('sha256').update(identity).digest('base64url'), environment };
}
