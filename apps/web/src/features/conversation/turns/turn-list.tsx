'use client';
import { Dialog } from '@slipway/ui';
import { Command as Cmdk } from 'cmdk';
import { useTranslations } from 'next-intl';
import { useConversation } from '../conversation-context.ts';
import { useTurns } from './use-turns.ts';

/** The turns as a list that is found by words: what the rail is for the eye. */
export default function TurnList({ close }: { close: () => void }) {
  const t = useTranslations();
  const { reveal } = useConversation();
  const turns = useTurns();
  return (
    <Dialog open onOpenChange={close} title={t('commands.jumpToTurn')} className="top-[12dvh] translate-y-0">
      <Cmdk label={t('commands.jumpToTurn')} loop className="flex flex-col">
        <div className="border-b border-line p-2">
          <Cmdk.Input
            data-autofocus
            placeholder={t('reading.findATurn')}
            className="h-9 w-full rounded-md bg-transparent px-2 text-sm outline-none placeholder:text-ink-muted"
          />
        </div>
        <Cmdk.List className="max-h-[50dvh] overflow-auto p-2">
          <Cmdk.Empty className="px-2 py-3 text-sm text-ink-muted">{t('reading.noTurn')}</Cmdk.Empty>
          {turns.map(({ seq, text, edits, failures }, index) => (
            <Cmdk.Item
              key={seq}
              value={`${index + 1} ${text}`}
              onSelect={() => {
                close();
                reveal.ask(seq);
              }}
              className="flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm data-[selected=true]:bg-raised touch:min-h-11"
            >
              <span className="w-8 shrink-0 text-right text-ink-muted tabular-nums">{index + 1}</span>
              <span dir="auto" className="min-w-0 flex-1 truncate">
                {text}
              </span>
              {edits ? <span className="text-xs text-ink-muted">{t('reading.edits')}</span> : null}
              {failures ? <span className="text-xs text-bad">{t('reading.failures')}</span> : null}
            </Cmdk.Item>
          ))}
        </Cmdk.List>
      </Cmdk>
    </Dialog>
  );
}
