import { readFile } from 'node:fs/promises';

/** One write to the API server, as its audit log has it. */
export interface Write {
  readonly user: string;
  readonly verb: string;
  /** With its subresource: `pods/binding`. */
  readonly resource: string;
  /** Of the pod; for an event, of the pod that it is about. */
  readonly pod: string;
  /** Milliseconds since 1970, with what the log has of less. */
  readonly receivedAt: number;
  readonly status: number;
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly name?: string;
    readonly namespace?: string;
  };
  readonly requestReceivedTimestamp: string;
  readonly responseStatus?: { readonly code?: number };
}

/** Every write in a namespace so far, dry runs too, refused ones too. */
export async function readWrites(file: string, namespace: string): Promise<Write[]> {
  const writes: Write[] = [];
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    // The last line may be half there.
    if (!line.endsWith('}')) continue;
    const { verb, user, objectRef = {}, requestReceivedTimestamp, responseStatus } = JSON.parse(line) as AuditEvent;
    if (objectRef.namespace !== namespace) continue;
    writes.push({
      user: user.username,
      verb,
      resource: `${objectRef.resource}${objectRef.subresource === undefined ? '' : `/${objectRef.subresource}`}`,
      pod: objectRef.name?.split('.')[0] ?? '',
      receivedAt: toMilliseconds(requestReceivedTimestamp),
      status: responseStatus?.code ?? 0,
    });
  }
  return writes;
}

/** `Date.parse` drops what is below a millisecond. */
function toMilliseconds(timestamp: string): number {
  const micros = /\.(\d{3})(\d{1,6})Z$/.exec(timestamp)?.[2] ?? '';
  return Date.parse(timestamp) + Number(`0.${micros === '' ? '0' : micros}`);
}
