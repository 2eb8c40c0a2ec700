import { createHash } from 'node:crypto';
import { RESOURCE_FACTORS, StartRuntime } from '@slipway/contracts/sandboxes';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { PoolSpec } from '../pool/pool-context.js';

/** Largest environment of one sandbox, as JSON. UTF-16 code units. */
const MAX_ENVIRONMENT_LENGTH = 256 * 1024;
/** OpenHands' SDK asks for this one unless its user says otherwise: where no template has it, it means nothing. */
const UNASKED_CLASS = 'sysbox-runc';
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Labels of this prefix record the owner of a sandbox: reserved. */
const RESERVED_LABELS = 'slipway.dev/';

export interface StartRequest {
  readonly sessionId: string;
  readonly pool: PoolSpec;
  readonly lane: 'interactive' | 'batch';
  /** SHA-256 of what was asked for: another one under the same session id is another request. */
  readonly hash: string;
  /** JSON of the environment, its names sorted. */
  readonly environment: string;
}

/**
 * The body of /start. `command` and users are what real clients send for pods that they describe themselves; blank
 * sandboxes are running already, so they only count for the identity of the request.
 * @throws SlipwayError `request.invalid` that names every wrong field; `sandbox.unknown-template` that names what there
 * is; `sandbox.reserved-label`.
 */
export function readStartRequest(body: unknown, pools: readonly [PoolSpec, ...PoolSpec[]]): StartRequest {
  const request = parseOrThrow(StartRuntime, body);
  const pool = choosePool(request, pools);
  const reserved = Object.keys(request.labels ?? {}).find(isReserved);
  if (reserved !== undefined)
    throw new SlipwayError(
      'sandbox.reserved-label',
      `labels: "${reserved.slice(0, 100)}" is one of Slipway's own; no request sets a label under ${RESERVED_LABELS}.`,
    );
  const variables = Object.entries(request.environment ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const badName = variables.find(([name, value]) => !VARIABLE_NAME.test(name) || value.includes('\0'));
  if (badName !== undefined) {
    const message = `"${badName[0].slice(0, 100)}" cannot be a variable: names are letters, digits and _, values hold no NUL`;
    throw new SlipwayError('request.invalid', `environment: ${message}`, {
      fields: [{ path: 'environment', message }],
    });
  }
  const environment = JSON.stringify(Object.fromEntries(variables));
  if (environment.length > MAX_ENVIRONMENT_LENGTH)
    throw new SlipwayError('request.too-large', `The environment is larger than ${MAX_ENVIRONMENT_LENGTH / 1024} KiB.`);
  const {
    image,
    command,
    working_dir,
    resource_factor = 1,
    runtime_class,
    run_as_user,
    run_as_group,
    fs_group,
  } = request;
  const identity = JSON.stringify([
    image,
    command,
    working_dir,
    resource_factor,
    runtime_class,
    run_as_user,
    run_as_group,
    fs_group,
    environment,
  ]);
  const hash = createHash('sha256').update(identity).digest('base64url');
  return { sessionId: request.session_id, pool, lane: request.priority ?? 'interactive', hash, environment };
}

/** Of Slipway's own prefix or one below it, however it is written: what Kubernetes would not take is no way around. */
function isReserved(label: string): boolean {
  const name = label.normalize('NFKC').trim().toLowerCase();
  return (
    name.startsWith(RESERVED_LABELS) || name.split('/', 1)[0]?.endsWith(`.${RESERVED_LABELS.slice(0, -1)}`) === true
  );
}

/**
 * The pool that has what is asked for; the first of them when more than one does. Where sandboxes have no image, as on
 * one's own machine, sizes and classes mean nothing.
 */
function choosePool(request: StartRuntime, pools: readonly [PoolSpec, ...PoolSpec[]]): PoolSpec {
  const { image, resource_factor: size, runtime_class: runtimeClass } = request;
  if (size !== undefined && !RESOURCE_FACTORS.some((factor) => factor === size))
    throw unknown('resource_factor', `there is no size ${size}; leave it out, or use one of`, RESOURCE_FACTORS);
  const ofImage =
    image === undefined ? pools : pools.filter((pool) => pool.image === image || pool.imageReference === image);
  if (ofImage.length === 0)
    throw unknown(
      'image',
      `"${image?.slice(0, 200)}" is not an image of this installation; leave it out, or use one of`,
      pools.map((pool) => pool.image),
    );
  const free = ofImage.find((pool) => pool.imageReference === null);
  if (free !== undefined) return free;
  const known = ofImage.filter((pool) => pool.runtimeClass === runtimeClass);
  const ofClass =
    runtimeClass === undefined || (known.length === 0 && runtimeClass === UNASKED_CLASS) ? ofImage : known;
  if (ofClass.length === 0)
    throw unknown(
      'runtime_class',
      `no template has "${runtimeClass?.slice(0, 100)}"; leave it out, or use one of`,
      ofImage.map((pool) => pool.runtimeClass),
    );
  const fit = size === undefined ? ofClass[0] : ofClass.find((pool) => pool.size === size);
  if (fit === undefined)
    throw unknown(
      'resource_factor',
      `no sandbox has the size ${size}; leave it out, or use one of`,
      ofClass.map((pool) => pool.size),
    );
  return fit;
}

function unknown(field: string, sentence: string, names: ReadonlyArray<string | number | null>): SlipwayError {
  const known = [...new Set(names.filter((name) => name !== null))];
  const message = `${sentence}: ${known.length === 0 ? 'none' : known.join(', ')}`;
  return new SlipwayError('sandbox.unknown-template', `${field}: ${message}.`, { fields: [{ path: field, message }] });
}
