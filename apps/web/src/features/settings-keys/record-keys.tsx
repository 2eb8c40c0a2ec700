'use client';
import { Button, Dialog, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useState } from 'react';
import { conflictsOf } from '../commands/bindings.ts';
import { useCommandContext } from '../commands/command-context.tsx';
import { COMMANDS, type CommandId } from '../commands/commands.ts';
import { displayOf, pressOf } from '../commands/press.ts';

/** Presses of one sequence. */
const MOST = 3;

/** Takes the next presses as the keys of a command. `Tab` and `Esc` keep their meaning, so that nobody is caught. */
export function RecordKeys({ id, save, close }: { id: CommandId; save: (keys: string) => void; close: () => void }) {
  const t = useTranslations();
  const { keys } = useCommandContext();
  const [presses, setPresses] = useState<readonly string[]>([]);
  const recorded = presses.join(' ');
  const shown = recorded === '' ? '' : displayOf(recorded).join(' ');
  const conflicts = recorded === '' ? [] : conflictsOf(id, recorded, keys);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' || event.key === 'Tab' || event.repeat || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    const press = pressOf(event.nativeEvent);
    if (press !== null) setPresses((before) => (before.length < MOST ? [...before, press] : before));
  };
  return (
    <Dialog
      open
      onOpenChange={close}
      title={t('settingsKeys.changeOf', { command: t(COMMANDS[id].label) })}
      description={t('settingsKeys.pressKeys')}
    >
      <div className="flex flex-col gap-4 p-4">
        <Input
          readOnly
          data-autofocus
          aria-label={t('settingsKeys.recorded')}
          value={shown}
          onKeyDown={onKeyDown}
          className="font-mono"
        />
        <p role="status" className={conflicts.length === 0 ? 'sr-only' : 'text-sm text-bad'}>
          {conflicts.length === 0
            ? shown
            : t('settingsKeys.alreadyUsed', {
                commands: conflicts.map((other) => t(COMMANDS[other].label)).join(', '),
              })}
        </p>
        <div className="flex justify-end gap-2">
          <Button tone="quiet" disabled={presses.length === 0} onClick={() => setPresses([])}>
            {t('settingsKeys.startAgain')}
          </Button>
          <Button tone="primary" disabled={presses.length === 0 || conflicts.length > 0} onClick={() => save(recorded)}>
            {t('settingsKeys.save')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
