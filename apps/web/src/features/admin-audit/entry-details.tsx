import type { AuditEntry } from '@slipway/contracts';
import { ScrollBox } from '@slipway/ui';
import { exactTime } from '../../browser/format.ts';

/** All of an entry: what it was done with and from where, and what differs. */
export function EntryDetails({ entry, names }: { entry: AuditEntry; names: Readonly<Record<string, string>> }) {
  const facts: ReadonlyArray<readonly [string, string | null]> = [
    ['When', exactTime(entry.createdAt)],
    ['Who', `${entry.actor.label ?? names[entry.actor.id] ?? entry.actor.id} (${entry.actor.kind} ${entry.actor.id})`],
    ['With the API key', entry.actor.viaKey],
    ['What', entry.action],
    ['To what', entry.target],
    ['From', entry.address],
    ['Request id', entry.requestId],
    ['Place in the chain', entry.seq === null ? null : String(entry.seq)],
    ['Hash', entry.hash],
  ];
  return (
    <div className="flex flex-col gap-4 p-4">
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-sm">
        {facts.map(([name, value]) =>
          value === null ? null : (
            <div key={name} className="contents">
              <dt className="text-ink-muted">{name}</dt>
              <dd className="break-all select-text">{value}</dd>
            </div>
          ),
        )}
      </dl>
      <Values label="Before" values={entry.before} />
      <Values label="After" values={entry.after} />
      <Values label="Detail" values={Object.keys(entry.detail).length === 0 ? null : entry.detail} />
    </div>
  );
}

function Values({ label, values }: { label: string; values: Readonly<Record<string, unknown>> | null }) {
  if (values === null) return null;
  return (
    <section aria-label={label} className="flex flex-col gap-1">
      <h3 className="text-xs font-medium text-ink-muted">{label}</h3>
      <ScrollBox label={label} className="max-h-60 overflow-auto rounded-md border border-line bg-raised p-3">
        <pre className="font-mono text-xs">{JSON.stringify(values, null, 2)}</pre>
      </ScrollBox>
    </section>
  );
}
