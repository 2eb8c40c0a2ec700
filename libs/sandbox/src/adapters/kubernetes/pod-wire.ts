import { BinaryReader } from '@bufbuild/protobuf/wire';

/**
 * Kubernetes' binary form: twice as fast to make for the API server as JSON, and a third to read for us, since what is
 * not named here is skipped unread.
 */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';

type Kind = 'string' | 'integer' | 'long' | 'strings' | 'time' | Message;
/**
 * Field numbers of a message of k8s.io/api, which never change, with the names that JSON has for them. `many`:
 * repeated.
 */
interface Message {
  readonly [field: number]: readonly [name: string, kind: Kind, many?: 'many'];
}
type Decoded = Record<string, unknown>;

const LIST_META: Message = { 2: ['resourceVersion', 'string'], 3: ['continue', 'string'] };
const OBJECT_META: Message = {
  1: ['name', 'string'],
  5: ['uid', 'string'],
  6: ['resourceVersion', 'string'],
  9: ['deletionTimestamp', 'time'],
  11: ['labels', 'strings'],
  12: ['annotations', 'strings'],
};
const TOLERATION: Message = {
  1: ['key', 'string'],
  2: ['operator', 'string'],
  3: ['value', 'string'],
  4: ['effect', 'string'],
};
const CONDITION: Message = {
  1: ['type', 'string'],
  2: ['status', 'string'],
  4: ['lastTransitionTime', 'time'],
  5: ['reason', 'string'],
  6: ['message', 'string'],
};
const STATE: Message = {
  1: ['waiting', { 1: ['reason', 'string'], 2: ['message', 'string'] }],
  2: ['running', {}],
  3: [
    'terminated',
    {
      1: ['exitCode', 'integer'],
      3: ['reason', 'string'],
      4: ['message', 'string'],
      6: ['finishedAt', 'time'],
      7: ['containerID', 'string'],
    },
  ],
};
const CONTAINER_STATUS: Message = {
  1: ['name', 'string'],
  2: ['state', STATE],
  3: ['lastState', STATE],
  5: ['restartCount', 'integer'],
};
const POD: Message = {
  1: ['metadata', OBJECT_META],
  2: ['spec', { 10: ['nodeName', 'string'], 22: ['tolerations', TOLERATION, 'many'] }],
  3: [
    'status',
    {
      1: ['phase', 'string'],
      2: ['conditions', CONDITION, 'many'],
      3: ['message', 'string'],
      4: ['reason', 'string'],
      6: ['podIP', 'string'],
      8: ['containerStatuses', CONTAINER_STATUS, 'many'],
      10: ['initContainerStatuses', CONTAINER_STATUS, 'many'],
    },
  ],
};
const STATUS: Message = { 3: ['message', 'string'], 4: ['reason', 'string'], 6: ['code', 'integer'] };

/** `k8s` and a zero, then `runtime.Unknown`. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const RAW_FIELD = 2;
/** Of a PodList. */
const LIST_META_FIELD = 1;
const ITEMS_FIELD = 2;
const NOT_BINARY = 'the answer does not begin as Kubernetes’ binary form does';

/** Longest field of a list that is taken: a pod is 10 kB, and etcd holds none above 1.5 MiB. Bytes. */
const MAX_FIELD = 8 * 1024 * 1024;
const LENGTH_DELIMITED = 2;
const TYPE_META_FIELD = 1;

export interface PodList {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly Decoded[];
}

/**
 * Reads a PodList while it arrives, with the fields that `readPod` takes, as JSON would have them: the API server makes
 * the next pod while we read the last, and no more than one pod is held in bytes.
 */
export class PodListReader {
  private metadata: PodList['metadata'] = {};
  private readonly items: Decoded[] = [];
  private rest: Buffer = Buffer.alloc(0);
  private begun = false;
  /** Bytes of the list that have not come yet; `null` before it begins. */
  private left: number | null = null;

  /** @throws Error for what is no PodList. */
  push(chunk: Uint8Array): void {
    this.rest =
      this.rest.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([this.rest, chunk]);
    if (!this.begun && !this.begin()) return;
    let at = 0;
    for (let field = this.field(at); field !== null; field = this.field(at)) at = field;
    this.rest = this.rest.subarray(at);
    if (this.rest.length > MAX_FIELD) throw new Error(`a field of the list is longer than ${MAX_FIELD} bytes`);
  }

  /** @throws Error when something is missing. */
  end(): PodList {
    if (this.left === null) throw new Error(this.begun ? 'the answer holds no object' : NOT_BINARY);
    if (this.left > 0 || this.rest.length > 0) throw new Error('the answer was cut');
    return { metadata: this.metadata, items: this.items };
  }

  private begin(): boolean {
    if (MAGIC.some((byte, index) => index < this.rest.length && this.rest[index] !== byte)) throw new Error(NOT_BINARY);
    if (this.rest.length < MAGIC.length) return false;
    this.rest = this.rest.subarray(MAGIC.length);
    this.begun = true;
    return true;
  }

  /** Takes the field that begins at `at`. @returns where the next begins, or `null` when it is not all here. */
  private field(at: number): number | null {
    const tag = varint(this.rest, at);
    const length = tag === null ? null : varint(this.rest, tag.end);
    if (tag === null || length === null) return null;
    const number = tag.value >>> 3;
    if ((tag.value & 7) !== LENGTH_DELIMITED) throw new Error('the answer is no list of pods');
    const inList = this.left !== null && this.left > 0;
    if (!inList && number === RAW_FIELD && this.left === null) {
      this.left = length.value;
      return length.end;
    }
    const end = length.end + length.value;
    if (length.value > MAX_FIELD) throw new Error(`a field of the list is longer than ${MAX_FIELD} bytes`);
    if (end > this.rest.length) return null;
    if (inList) {
      this.left = (this.left ?? 0) - (end - at);
      if (this.left < 0) throw new Error('the answer is no list of pods');
      if (number === LIST_META_FIELD)
        this.metadata = read(new BinaryReader(this.rest.subarray(length.end, end)), LIST_META);
      else if (number === ITEMS_FIELD)
        this.items.push(read(new BinaryReader(this.rest.subarray(length.end, end)), POD));
    } else if (this.left === null && number !== TYPE_META_FIELD) throw new Error('the answer is no list of pods');
    return end;
  }
}

/** A Status, as an error's body. @throws Error when it is none. */
export function readStatusMessage(bytes: Uint8Array): Decoded {
  return read(new BinaryReader(rawOf(bytes)), STATUS);
}

function rawOf(bytes: Uint8Array): Uint8Array {
  if (MAGIC.some((byte, index) => bytes[index] !== byte)) throw new Error(NOT_BINARY);
  const reader = new BinaryReader(bytes.subarray(MAGIC.length));
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field === RAW_FIELD) return reader.bytes();
    reader.skip(wire, field);
  }
  throw new Error('the answer holds no object');
}

/** A number of at most five bytes; `null` when it is not all here. @throws Error for a longer one: no field is. */
function varint(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } | null {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined) return null;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return { value, end: at + index + 1 };
  }
  throw new Error('the answer is no list of pods');
}

/** Empty texts and zeros are left out, as JSON leaves them out. */
function read(reader: BinaryReader, message: Message, end = reader.len): Decoded {
  const decoded: Decoded = {};
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    const known = message[number];
    if (known === undefined) {
      reader.skip(wire, number);
      continue;
    }
    const [name, kind, many] = known;
    if (kind === 'strings') {
      const map = (decoded[name] as Record<string, string> | undefined) ?? {};
      readEntry(reader, map);
      decoded[name] = map;
      continue;
    }
    const value = readValue(reader, kind);
    if (many === 'many') {
      const list = (decoded[name] as unknown[] | undefined) ?? [];
      list.push(value);
      decoded[name] = list;
    } else if (value !== '' && value !== 0) decoded[name] = value;
  }
  return decoded;
}

function readValue(reader: BinaryReader, kind: Exclude<Kind, 'strings'>): unknown {
  if (kind === 'string') return reader.string();
  if (kind === 'integer') return reader.int32();
  if (kind === 'long') return Number(reader.int64());
  const length = reader.uint32();
  const end = reader.pos + length;
  if (kind !== 'time') return read(reader, kind, end);
  const { seconds = 0 } = read(reader, { 1: ['seconds', 'long'] }, end) as { seconds?: number };
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z');
}

function readEntry(reader: BinaryReader, into: Record<string, string>): void {
  const length = reader.uint32();
  const { key = '', value = '' } = read(
    reader,
    { 1: ['key', 'string'], 2: ['value', 'string'] },
    reader.pos + length,
  ) as { key?: string; value?: string };
  into[key] = value;
}
