'use client';
import { Button, Checkbox, type Column, Kbd, Section, Table } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { isMac } from '../../browser/keys.ts';
import { DEFAULT_KEY_SETTINGS, type KeyChanges, keysOf } from '../commands/bindings.ts';
import { useCommandContext } from '../commands/command-context.tsx';
import { COMMAND_IDS, COMMANDS, type CommandId } from '../commands/commands.ts';
import { displayOf } from '../commands/press.ts';
import { Page } from '../frame/page.tsx';
import { RecordKeys } from './record-keys.tsx';

/** The keys of every command: recorded, removed, reset; and whether a single key may be a shortcut. */
export function ShortcutSettings() {
  const t = useTranslations();
  const { keys, changeKeys } = useCommandContext();
  const [recording, setRecording] = useState<CommandId | null>(null);
  const change = (changes: KeyChanges): void => changeKeys({ ...keys, changes });
  const set = (id: CommandId, to: string | null): void => {
    change({ ...keys.changes, [id]: to });
    toast.success(t('settingsKeys.wasChanged', { command: t(COMMANDS[id].label) }));
  };
  const reset = (id: CommandId): void => {
    const { [id]: _before, ...others } = keys.changes;
    change(others);
  };
  const columns: Column<CommandId>[] = [
    {
      label: t('settingsKeys.command'),
      phone: 'title',
      cell: (id) => <span className="font-medium">{t(COMMANDS[id].label)}</span>,
    },
    { label: t('settingsKeys.keys'), cell: (id) => <Bound id={id} /> },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (id) => <RowActions id={id} record={() => setRecording(id)} set={set} reset={reset} />,
    },
  ];
  return (
    <Page
      title={t('common.keyboard')}
      description={t('settingsKeys.description')}
      action={
        <Button
          disabled={Object.keys(keys.changes).length === 0 && keys.singleKeys}
          onClick={() => changeKeys(DEFAULT_KEY_SETTINGS)}
        >
          {t('settingsKeys.resetAll')}
        </Button>
      }
    >
      <Section title={t('settingsKeys.singleKeys')}>
        <Checkbox
          label={t('settingsKeys.useSingleKeys')}
          hint={t('settingsKeys.singleKeysHint', { mod: isMac ? '⌘' : 'Ctrl' })}
          checked={keys.singleKeys}
          onChange={(singleKeys) => changeKeys({ ...keys, singleKeys })}
        />
      </Section>
      <Table label={t('settingsKeys.shortcuts')} columns={columns} rows={COMMAND_IDS} rowKey={(id) => id} />
      {recording === null ? null : (
        <RecordKeys
          id={recording}
          close={() => setRecording(null)}
          save={(pressed) => {
            set(recording, pressed);
            setRecording(null);
          }}
        />
      )}
    </Page>
  );
}

function Bound({ id }: { id: CommandId }) {
  const t = useTranslations();
  const { keys } = useCommandContext();
  const bound = keysOf(id, keys);
  if (bound === null) return <span className="text-ink-muted">{t('settingsKeys.none')}</span>;
  return (
    <span className="flex gap-1">
      {displayOf(bound).map((press, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sequence may hold a press twice, and never changes
        <Kbd key={index}>{press}</Kbd>
      ))}
    </span>
  );
}

function RowActions({
  id,
  record,
  set,
  reset,
}: {
  id: CommandId;
  record: () => void;
  set: (id: CommandId, to: string | null) => void;
  reset: (id: CommandId) => void;
}) {
  const t = useTranslations();
  const { keys } = useCommandContext();
  const command = t(COMMANDS[id].label);
  if (COMMANDS[id].fixed === true) return <span className="text-xs text-ink-muted">{t('settingsKeys.fixed')}</span>;
  return (
    <span className="flex flex-wrap justify-end gap-1">
      {keys.changes[id] === undefined ? null : (
        <Button size="small" tone="quiet" aria-label={t('settingsKeys.resetOf', { command })} onClick={() => reset(id)}>
          {t('settingsKeys.reset')}
        </Button>
      )}
      {keysOf(id, { ...keys, singleKeys: true }) === null ? null : (
        <Button
          size="small"
          tone="quiet"
          aria-label={t('settingsKeys.removeOf', { command })}
          onClick={() => set(id, null)}
        >
          {t('settingsKeys.remove')}
        </Button>
      )}
      <Button size="small" aria-label={t('settingsKeys.changeOf', { command })} onClick={record}>
        {t('settingsKeys.change')}
      </Button>
    </span>
  );
}
