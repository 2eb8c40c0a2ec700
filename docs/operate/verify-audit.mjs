// Verifies an export of the audit without Slipway: node verify-audit.mjs FILE [SEQ:HASH]. SEQ:HASH is a link of an
// earlier export, which must be in this one.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';

const [file, expected] = process.argv.slice(2);
const fail = (sentence) => {
  console.error(sentence);
  process.exit(1);
};
/** What stands in the record, by the names of the line. */
const fieldsOf = ([seq, id, , kind, actor, label, viaKey, action, target, detail, before, after, requestId, address, time]) => ({
  ...{ seq, id, actor: { kind, id: actor, label, viaKey }, action, target, detail, before, after, requestId, address },
  createdAt: new Date(time).toISOString(),
});
let [head, last, end, count, found] = [null, null, null, 0, expected === undefined];
for await (const text of createInterface({ input: createReadStream(file) })) {
  const line = JSON.parse(text);
  if (end !== null) fail(`There are lines after the last one, of entry ${end.count}.`);
  if (line.kind === 'slipway-audit') head = line;
  else if (line.kind === 'end') end = line;
  else {
    const { kind: _, previous, hash, record, ...fields } = line;
    const seq = last === null ? head.first : last.seq + 1;
    if (line.seq !== seq) fail(`Entry ${seq} is not there.`);
    if (previous !== (last?.hash ?? (seq === 1 ? '' : previous))) fail(`Entry ${seq} does not go on from the one before.`);
    if (record === null) fail(`Entry ${seq} was deleted before the export.`);
    if (createHash('sha256').update(Buffer.from(previous, 'hex')).update(record).digest('hex') !== hash) fail(`Entry ${seq} was altered.`);
    if (JSON.parse(record)[2] !== head.org || !isDeepStrictEqual(fieldsOf(JSON.parse(record)), fields)) fail(`Entry ${seq} has other fields than its record.`);
    found ||= expected === `${seq}:${hash}`;
    last = line;
    count += 1;
  }
}
if (head === null || end === null) fail(`The file is cut: it has ${count} entries and no last line.`);
if (end.count !== count || head.head?.seq !== last?.seq || head.head?.hash !== last?.hash) fail(`The file has ${count} entries; it had ${end.count}.`);
if (!found) fail(`Link ${expected} is not in this export: the audit was cut or written anew since.`);
console.log(last === null ? 'The export has no entries.' : `${count} entries are as they were written. Head: ${last.seq}:${last.hash}`);
