import type { AuditEntry } from '@slipway/contracts/audit';
import { ScrollBox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { exactTime } from '../../browser/format.ts';

/** All of an entry: what it was done with and from where, and what differs. */
export function EntryDetails({ entry, names }: { entry: AuditEntry; names: Readonly<Record<string, string>> }) {
  const t = useTranslations();
  const facts: ReadonlyArray<readonly [string, string | null]> = [
    [t('adminAudit.time'), exactTime(entry.createdAt)],
    [
      t('adminAudit.actor'),
      `${entry.actor.label ?? names[entry.actor.id] ?? entry.actor.id} (${entry.actor.kind} ${entry.actor.id})`,
    ],
    [t('adminAudit.apiKey'), entry.actor.viaKey],
    [t('adminAudit.action'), entry.action],
    [t('adminAudit.target'), entry.target],
    [t('adminAudit.address'), entry.address],
    [t('adminAudit.requestId'), entry.requestId],
    [t('adminAudit.positionInTheChain'), entry.seq === null ? null : String(entry.seq)],
    [t('adminAudit.hash'), entry.hash],
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
      <Values label={t('adminAudit.before')} values={entry.before} />
      <Values label={t('adminAudit.after')} values={entry.after} />
      <Values label={t('adminAudit.detail')} values={Object.keys(entry.detail).length === 0 ? null : entry.detail} />
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
