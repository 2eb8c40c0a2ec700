'use client';
import type { IntegrationProvider } from '@slipway/contracts';
import { Checkbox, Field, Input } from '@slipway/ui';
import type { Form } from '../form/use-form.ts';
import type { ConnectionValues } from './connection-values.ts';
import { PlaceRepositories, ProcessorChoices } from './thread-settings.tsx';

/** What of a connection is set when it is made and can be changed later. What has a good default is folded. */
export function ConnectionFields<Values extends ConnectionValues>({
  form,
  provider,
  tokenHint,
  tokenIsSet,
}: {
  form: Form<Values>;
  provider: Pick<IntegrationProvider, 'takesToken' | 'does' | 'host' | 'places' | 'processors'>;
  tokenHint: string | undefined;
  tokenIsSet: boolean;
}) {
  const { values } = form;
  const { takesToken } = provider;
  const isCode = provider.does.includes('code');
  const set = (part: Partial<ConnectionValues['settings']>) => form.set('settings', { ...values.settings, ...part });
  const setOwn = (part: Partial<ConnectionValues['own']>) => form.set('own', { ...values.own, ...part });
  const wrong = ['settings.labels', 'settings.bots', 'settings.defaultRepository', 'settings.repositories', 'settings.baseUrl', 'own.mention', 'own.ids'].some(
    (name) => form.error(name) !== null,
  );
  const text = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;
  return (
    <>
      <Field label="Name" hint="For people." error={form.error('name')}>
        {(control) => <Input {...control} value={values.name} maxLength={100} autoComplete="off" onChange={(event) => form.set('name', event.target.value)} />}
      </Field>
      {takesToken ? (
        <Field
          label="Access token"
          hint={`${tokenHint ?? 'With it the provider is asked who may write.'} ${tokenIsSet ? 'Empty: the one that is set stays.' : isCode ? 'Without one, nothing that names a repository is started.' : 'Without one, nothing is answered there.'}`}
          error={form.error('token')}
        >
          {(control) => <Input {...control} {...text} type="password" value={values.token} onChange={(event) => form.set('token', event.target.value)} />}
        </Field>
      ) : null}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Labels" hint="Each starts a conversation. Separated by commas." error={form.error('settings.labels')}>
          {(control) => <Input {...control} {...text} value={values.settings.labels} onChange={(event) => set({ labels: event.target.value })} />}
        </Field>
        <Field label="Mention" hint={`People write @${values.own.mention.replace(/^@/, '') || 'slipway'}.`} error={form.error('own.mention')}>
          {(control) => <Input {...control} {...text} value={values.own.mention} onChange={(event) => setOwn({ mention: event.target.value })} />}
        </Field>
      </div>
      <details open={wrong || undefined} className="rounded-md border border-line px-3">
        <summary className="cursor-pointer py-2 text-sm font-medium">More settings</summary>
        <div className="flex flex-col gap-4 pb-3">
          <Field label="Default repository" hint="Where nothing else names one: its address. Empty: none." error={form.error('settings.defaultRepository')}>
            {(control) => (
              <Input
                {...control}
                {...text}
                inputMode="url"
                placeholder="https://git.example.com/owner/name"
                value={values.settings.defaultRepository}
                onChange={(event) => set({ defaultRepository: event.target.value })}
              />
            )}
          </Field>
          {provider.places === null ? null : (
            <PlaceRepositories
              kind={provider.places}
              values={values.settings.repositories}
              error={form.error('settings.repositories')}
              onChange={(repositories) => set({ repositories })}
            />
          )}
          {provider.processors.length === 0 ? null : (
            <ProcessorChoices offered={provider.processors} values={values.settings.processors} onChange={(processors) => set({ processors })} />
          )}
          {isCode || provider.host === null ? (
            <Field
              label="Base address"
              hint="Where the host’s pages are, if not at https:// and the host: another path, or http inside of a network that the operator allows."
              error={form.error('settings.baseUrl')}
            >
              {(control) => (
                <Input {...control} {...text} inputMode="url" value={values.settings.baseUrl} onChange={(event) => set({ baseUrl: event.target.value })} />
              )}
            </Field>
          ) : null}
          <Field
            label="Ids of Slipway’s own account"
            hint="Of the user or app that the token belongs to, as the provider numbers it: what it does itself starts nothing."
            error={form.error('own.ids')}
          >
            {(control) => <Input {...control} {...text} value={values.own.ids} onChange={(event) => setOwn({ ids: event.target.value })} />}
          </Field>
          <Field label="Bots that may ask" hint="Their ids at the provider. Other bots are ignored." error={form.error('settings.bots')}>
            {(control) => <Input {...control} {...text} value={values.settings.bots} onChange={(event) => set({ bots: event.target.value })} />}
          </Field>
          {isCode ? (
            <Checkbox
              label="Publish by itself"
              hint="What a thread asked for becomes a pull request once the agent has finished. Off: somebody publishes it on the page of the conversation."
              checked={values.settings.publishes}
              onChange={(publishes) => set({ publishes })}
            />
          ) : null}
          {isCode ? (
            <Field
              label="Fix failed checks by itself"
              hint="Most rounds on one pull request. 0: somebody asks for it on the page of the conversation."
              error={form.error('settings.fixRounds')}
            >
              {(control) => (
                <Input
                  {...control}
                  type="number"
                  min={0}
                  max={10}
                  value={values.settings.fixRounds}
                  onChange={(event) => set({ fixRounds: Math.max(0, Math.trunc(event.target.valueAsNumber || 0)) })}
                />
              )}
            </Field>
          ) : null}
          <Checkbox
            label="Read confidential issues"
            hint="Their text then reaches everybody who may open the conversation."
            checked={values.settings.confidential}
            onChange={(confidential) => set({ confidential })}
          />
        </div>
      </details>
    </>
  );
}
