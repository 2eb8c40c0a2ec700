'use client';
import { type HookSelection, SelectIntegrationHooks } from '@slipway/contracts';
import { Button, Field, Textarea } from '@slipway/ui';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { listOf } from './connection-values.ts';

interface Props {
  readonly where: { readonly org: string; readonly connection: string };
  readonly selection: HookSelection;
  readonly onDone: (said: string) => void;
}

/** Which repositories get a webhook by themselves: all, by pattern, or by name. */
export function HookSelectionForm({ where, selection, onDone }: Props) {
  const form = useForm({
    initial: { patterns: selection.patterns.join('\n') },
    schema: SelectIntegrationHooks,
    requestOf: ({ patterns }) => ({ patterns: listOf(patterns) }),
    send: (body) => api.selectIntegrationHooks({ ...where, body }),
    onDone: (_list, { patterns }) => onDone(patterns.length === 0 ? 'No repositories are selected any more.' : 'Webhooks are being made.'),
  });
  return (
    <form {...form.props} className="flex flex-col gap-2">
      <Field
        label="Repositories that get a webhook"
        hint="One a line: owner/name, owner/* for all of an owner, owner/** with the groups below, ** for all that the access token reaches. New ones are looked for once a day."
        error={form.error('patterns')}
      >
        {(control) => (
          <Textarea
            {...control}
            rows={3}
            spellCheck={false}
            placeholder={'acme/*\nacme/web/shop'}
            value={form.values.patterns}
            onChange={(event) => form.set('patterns', event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" tone="primary" busy={form.busy}>
          Save selection
        </Button>
        <Button onClick={() => form.set('patterns', '**')}>All repositories</Button>
        {selection.listedAt === null ? null : (
          <span className="text-sm text-ink-muted">
            Looked for <Ago at={selection.listedAt} />
          </span>
        )}
      </div>
      {selection.problem === null ? null : <p className="text-sm text-warn">{selection.problem}</p>}
      <FormFailure failure={form.failure} />
    </form>
  );
}
