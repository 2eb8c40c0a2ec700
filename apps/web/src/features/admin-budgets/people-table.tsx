'use client';
import { type BudgetPerson, type Budgets, PutBudgetOverride } from '@slipway/contracts';
import { Badge, Button, Dialog, Field, Input, Table } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { money } from '../../browser/format.ts';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { spentPercent } from './budget-words.ts';

/** Who has spent how much of what they may, those who spent most first. */
export function PeopleTable({ budgets, mayChange, onChanged }: { budgets: Budgets; mayChange: boolean; onChanged: () => void }) {
  const [changing, setChanging] = useState<BudgetPerson | null>(null);
  return (
    <>
      <Table
        label="What people have spent"
        rows={budgets.people}
        rowKey={(person) => person.user.id}
        columns={[
          { label: 'Person', phone: 'title', cell: (person) => <span className="font-medium break-words">{person.user.label}</span> },
          { label: 'Spent', cell: (person) => <Spent spending={person} /> },
          {
            label: 'Limit',
            cell: (person) => (
              <span>
                {person.limitUsd === null ? 'None' : money(Number(person.limitUsd))}
                {person.source === 'override' ? ' (their own)' : ''}
              </span>
            ),
          },
          { label: 'State', cell: (person) => (person.blocked ? <Badge tone="bad">Blocked</Badge> : <Badge tone="ok">May go on</Badge>) },
          {
            label: 'Actions',
            unnamed: true,
            align: 'end',
            phone: 'actions',
            cell: (person) =>
              mayChange ? (
                <Button size="small" aria-label={`Change the limit of ${person.user.label}`} onClick={() => setChanging(person)}>
                  Change
                </Button>
              ) : null,
          },
        ]}
      />
      {budgets.more ? <p className="text-xs text-ink-muted">There are more people; those who spent least are left out.</p> : null}
      <Dialog open={changing !== null} onOpenChange={(open) => open || setChanging(null)} title={`Limit of ${changing?.user.label ?? ''}`}>
        {changing === null ? null : (
          <Override
            person={changing}
            onClose={() => setChanging(null)}
            onDone={() => {
              setChanging(null);
              onChanged();
            }}
          />
        )}
      </Dialog>
    </>
  );
}

export function Spent({ spending }: { spending: { readonly spentUsd: string; readonly limitUsd: string | null } }) {
  const percent = spentPercent(spending);
  return (
    <span className="block min-w-24">
      <span className="tabular-nums" title={`$${spending.spentUsd}`}>
        {money(Number(spending.spentUsd))}
      </span>
      {percent === null ? null : (
        <span aria-hidden className="mt-1 block h-1.5 w-full overflow-hidden rounded-full bg-raised">
          <span className={`block h-full ${percent >= 100 ? 'bg-bad' : percent >= 80 ? 'bg-warn' : 'bg-accent'}`} style={{ width: `${percent}%` }} />
        </span>
      )}
    </span>
  );
}

function Override({ person, onClose, onDone }: { person: BudgetPerson; onClose: () => void; onDone: () => void }) {
  const { org } = useSession();
  const form = useForm({
    initial: { limitUsd: person.limitUsd ?? '' },
    schema: PutBudgetOverride,
    requestOf: ({ limitUsd }) => ({ limitUsd: limitUsd.trim() === '' ? null : limitUsd.trim() }),
    send: (body) => api.putBudgetOverride({ org: org.id, user: person.user.id, body }),
    onDone,
  });
  const inherit = useMutation({ mutationFn: () => api.deleteBudgetOverride({ org: org.id, user: person.user.id }), onSuccess: onDone });
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <Field label="A month, in USD" hint="Empty: no limit of their own; the organization’s holds all the same." error={form.error('limitUsd')}>
        {(control) => (
          <Input
            {...control}
            inputMode="decimal"
            value={form.values.limitUsd}
            placeholder="no limit"
            onChange={(event) => form.set('limitUsd', event.target.value)}
          />
        )}
      </Field>
      <FormFailure failure={form.failure} />
      <ErrorNotice error={inherit.error} />
      <div className="flex flex-wrap justify-end gap-2">
        {person.source === 'override' ? (
          <Button busy={inherit.isPending} onClick={() => inherit.mutate()}>
            As for everybody
          </Button>
        ) : null}
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          Save
        </Button>
      </div>
    </form>
  );
}
