'use client';
import { Button, Field, IconButton, Input, Select } from '@slipway/ui';
import { Plus, X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { newId } from '../../api/client.ts';
import type { Translate } from '../../messages/translate.ts';
import { useSession } from '../session/me.ts';
import { EMPTY_ENTRY, type Entry, nameOfSecret } from './server-entries.ts';

/** Headers or variables, row by row: a text that everybody here reads, or a secret by its name. */
export function EntriesField({
  noun,
  server,
  entries,
  secretNames,
  error,
  onChange,
}: {
  noun: 'header' | 'variable';
  /** Name of the server, for the names of new secrets. */
  server: string;
  entries: readonly Entry[];
  secretNames: readonly string[];
  error: string | null;
  onChange: (entries: readonly Entry[]) => void;
}) {
  const t = useTranslations();
  const put = (id: string, change: Partial<Entry>) =>
    onChange(entries.map((entry) => (entry.id === id ? { ...entry, ...change } : entry)));
  const title = noun === 'header' ? t('adminMcp.headers') : t('adminMcp.environment');
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-xs font-medium text-ink-muted">{title}</legend>
      {entries.map((entry, index) => (
        <EntryRow
          key={entry.id}
          noun={noun}
          label={`${noun === 'header' ? t('adminMcp.header') : t('adminMcp.variable')} ${index + 1}`}
          server={server}
          entry={entry}
          secretNames={secretNames}
          onChange={(change) => put(entry.id, change)}
          onRemove={() => onChange(entries.filter(({ id }) => id !== entry.id))}
        />
      ))}
      {error === null ? (
        <p className="text-xs text-ink-muted">{t('adminMcp.everyoneWhoCanSeeThis')}</p>
      ) : (
        <p role="alert" className="text-xs text-bad">
          {error}
        </p>
      )}
      <Button
        size="small"
        className="self-start"
        onClick={() => onChange([...entries, { ...EMPTY_ENTRY, id: newId() }])}
      >
        <Plus aria-hidden />
        {t(noun === 'header' ? 'adminMcp.addAHeader' : 'adminMcp.addAVariable')}
      </Button>
    </fieldset>
  );
}

const PLAIN = { autoComplete: 'off', spellCheck: false } as const;

interface RowProps {
  /** Name of the server, for the names of new secrets. */
  server: string;
  entry: Entry;
  secretNames: readonly string[];
  onChange: (change: Partial<Entry>) => void;
}

function EntryRow({
  noun,
  label,
  server,
  entry,
  secretNames,
  onChange,
  onRemove,
}: RowProps & {
  noun: 'header' | 'variable';
  label: string;
  onRemove: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const kinds = [
    { value: 'text', label: t('adminMcp.text') },
    ...(secretNames.length > 0 || entry.kind === 'secret' ? [{ value: 'secret', label: t('common.secret') }] : []),
    ...(org.permissions.includes('secret:write') ? [{ value: 'fresh', label: t('adminMcp.newSecret') }] : []),
  ];
  const become = (kind: string) => {
    const prefix =
      kind !== 'text' && entry.prefix === '' && /^authorization$/i.test(entry.name.trim()) ? 'Bearer ' : entry.prefix;
    if (kind === 'fresh') onChange({ kind, prefix, secret: '' });
    else if (kind === 'secret')
      onChange({ kind, prefix, secret: secretNames.includes(entry.secret) ? entry.secret : '' });
    else onChange({ kind: 'text' });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset within the fieldset would be read twice
    <div role="group" aria-label={label} className="flex min-w-0 flex-col gap-2 rounded-md border border-line p-2">
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)_auto] items-end gap-2 sm:grid-cols-[minmax(0,1fr)_8rem_auto]">
        <Field label={t('common.name')}>
          {(control) => (
            <Input
              {...control}
              {...PLAIN}
              value={entry.name}
              placeholder={noun === 'header' ? 'Authorization' : t('adminMcp.apiToken')}
              className="font-mono"
              onChange={(event) => onChange({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={t('adminMcp.valueType')} className="max-sm:order-last max-sm:col-span-2">
          {(control) => <Select {...control} value={entry.kind} options={kinds} onChange={become} />}
        </Field>
        <IconButton label={t('adminMcp.remove', { label: label.toLowerCase() })} onClick={onRemove}>
          <X aria-hidden />
        </IconButton>
      </div>
      {entry.kind === 'text' ? (
        <Field label={t('adminMcp.value')}>
          {(control) => (
            <Input
              {...control}
              {...PLAIN}
              value={entry.text}
              className="font-mono"
              onChange={(event) => onChange({ text: event.target.value })}
            />
          )}
        </Field>
      ) : (
        <SecretFields server={server} entry={entry} secretNames={secretNames} onChange={onChange} />
      )}
    </div>
  );
}

/** A value that comes from a secret: a known one, or a new one by its value and name. */
function SecretFields({ server, entry, secretNames, onChange }: RowProps) {
  const t = useTranslations();
  return (
    <div className="grid min-w-0 gap-2 sm:grid-cols-[7rem_minmax(0,1fr)]">
      <Field label={t('adminMcp.prefix')}>
        {(control) => (
          <Input
            {...control}
            {...PLAIN}
            value={entry.prefix}
            placeholder={t('adminMcp.nothing')}
            className="font-mono"
            onChange={(event) => onChange({ prefix: event.target.value })}
          />
        )}
      </Field>
      {entry.kind === 'secret' ? (
        <Field label={t('common.secret')}>
          {(control) => (
            <Select
              {...control}
              value={entry.secret}
              options={choicesOf(t, entry.secret, secretNames)}
              onChange={(secret) => onChange({ secret })}
            />
          )}
        </Field>
      ) : (
        <div className="grid min-w-0 gap-2 sm:grid-cols-2">
          <Field label={t('adminMcp.value')}>
            {(control) => (
              <Input
                {...control}
                {...PLAIN}
                type="password"
                autoComplete="new-password"
                value={entry.secretValue}
                className="font-mono"
                onChange={(event) => onChange({ secretValue: event.target.value })}
              />
            )}
          </Field>
          <Field label={t('adminMcp.secretName')}>
            {(control) => (
              <Input
                {...control}
                {...PLAIN}
                value={nameOfSecret(server, entry)}
                className="font-mono"
                onChange={(event) => onChange({ secret: event.target.value })}
              />
            )}
          </Field>
        </div>
      )}
    </div>
  );
}

/** One that is named stays among the choices, also when it is none that every conversation has. */
function choicesOf(t: Translate, named: string, secretNames: readonly string[]) {
  const names = named === '' || secretNames.includes(named) ? secretNames : [named, ...secretNames];
  return [
    ...(named === '' ? [{ value: '', label: t('adminMcp.choose') }] : []),
    ...names.map((name) => ({ value: name, label: name })),
  ];
}
