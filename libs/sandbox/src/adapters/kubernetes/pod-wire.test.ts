import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type PodList, PodListReader, readStatusMessage } from './pod-wire.js';

const text = (field: number, value: string) => (writer: BinaryWriter) =>
  writer.tag(field, WireType.LengthDelimited).string(value);
const integer = (field: number, value: number) => (writer: BinaryWriter) =>
  writer.tag(field, WireType.Varint).int32(value);
const long = (field: number, value: number) => (writer: BinaryWriter) =>
  writer.tag(field, WireType.Varint).int64(value);
const part =
  (field: number, ...parts: Array<(writer: BinaryWriter) => BinaryWriter>) =>
  (writer: BinaryWriter): BinaryWriter => {
    writer.tag(field, WireType.LengthDelimited).fork();
    for (const write of parts) write(writer);
    return writer.join();
  };
const time = (field: number, at: string) => part(field, long(1, Date.parse(at) / 1_000), integer(2, 0));
const answer = (...parts: Array<(writer: BinaryWriter) => BinaryWriter>): Uint8Array => {
  const raw = new BinaryWriter();
  for (const write of parts) write(raw);
  const unknown = part(
    1,
    text(1, 'v1'),
    text(2, 'PodList'),
  )(new BinaryWriter())
    .tag(2, WireType.LengthDelimited)
    .bytes(raw.finish());
  return Buffer.concat([Buffer.from('k8s\0'), unknown.finish()]);
};

/** As it comes in pieces of so many bytes. */
function readPodList(bytes: Uint8Array, piece = bytes.length || 1): PodList {
  const reader = new PodListReader();
  for (let at = 0; at < bytes.length; at += piece) reader.push(bytes.subarray(at, at + piece));
  return reader.end();
}

describe('a list of pods in Kubernetes’ binary form', () => {
  it('is read as its JSON would be, without unused fields', () => {
    const status = (...state: Array<(writer: BinaryWriter) => BinaryWriter>) =>
      part(8, text(1, 'agent-server'), part(2, ...state), part(3), integer(4, 1), integer(5, 3), text(6, 'image'));
    const bytes = answer(
      part(1, text(2, '4711'), text(3, 'next')),
      part(
        2,
        part(
          1,
          text(1, 'sb-1'),
          text(3, 'slipway-sandboxes'),
          text(5, 'uid-1'),
          text(6, '17'),
          time(8, '2026-11-22T05:00:00Z'),
          time(9, '2026-11-22T05:00:07Z'),
          part(11, text(1, 'a'), text(2, 'b')),
          part(11, text(1, 'c'), text(2, '')),
          part(12, text(1, 'note'), text(2, 'käse')),
          part(17, text(1, 'kubelet'), part(7, text(1, '{"f:status":{}}'))),
        ),
        part(
          2,
          part(2, text(1, 'container')),
          text(10, 'node-1'),
          part(22, text(1, 'k'), text(2, 'Exists'), text(4, 'NoExecute'), long(5, 30)),
        ),
        part(
          3,
          text(1, 'Failed'),
          part(2, text(1, 'PodScheduled'), text(2, 'True'), time(4, '2026-11-22T05:00:01Z')),
          text(3, 'words'),
          text(4, 'Evicted'),
          text(6, '10.0.0.1'),
          status(
            part(
              3,
              integer(1, 137),
              integer(2, 9),
              text(3, 'OOMKilled'),
              time(6, '2026-11-22T05:00:06Z'),
              text(7, 'containerd://a'),
            ),
          ),
          part(10, text(1, 'action-server'), part(2, part(2, time(1, '2026-11-22T05:00:02Z'))), integer(5, 0)),
        ),
      ),
      part(2, part(1, text(1, 'sb-2'))),
    );
    const expected = {
      metadata: { resourceVersion: '4711', continue: 'next' },
      items: [
        {
          metadata: {
            name: 'sb-1',
            uid: 'uid-1',
            resourceVersion: '17',
            deletionTimestamp: '2026-11-22T05:00:07Z',
            labels: { a: 'b', c: '' },
            annotations: { note: 'käse' },
          },
          spec: { nodeName: 'node-1', tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }] },
          status: {
            phase: 'Failed',
            conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-22T05:00:01Z' }],
            message: 'words',
            reason: 'Evicted',
            podIP: '10.0.0.1',
            containerStatuses: [
              {
                name: 'agent-server',
                state: {
                  terminated: {
                    exitCode: 137,
                    reason: 'OOMKilled',
                    finishedAt: '2026-11-22T05:00:06Z',
                    containerID: 'containerd://a',
                  },
                },
                lastState: {},
                restartCount: 3,
              },
            ],
            initContainerStatuses: [{ name: 'action-server', state: { running: {} } }],
          },
        },
        { metadata: { name: 'sb-2' } },
      ],
    };
    for (let piece = 1; piece <= bytes.length; piece += 1) expect(readPodList(bytes, piece)).toEqual(expected);
  });

  it('is refused by an error, never read wrongly, when it is cut or is something else', () => {
    const whole = answer(part(2, part(1, text(1, 'sb-1'), text(5, 'uid-1'))));
    for (let length = 0; length < whole.length; length += 1)
      expect(() => readPodList(whole.subarray(0, length))).toThrow();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          readPodList(Buffer.concat([Buffer.from('k8s\0'), bytes]));
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
    expect(() => readPodList(Buffer.from('{"kind":"PodList"}'))).toThrow(/binary form/);
  });

  it('may come as a Status, whose words are kept', () => {
    expect(
      readStatusMessage(answer(text(2, 'Failure'), text(3, 'too old'), text(4, 'Expired'), integer(6, 410))),
    ).toEqual({
      message: 'too old',
      reason: 'Expired',
      code: 410,
    });
  });
});
