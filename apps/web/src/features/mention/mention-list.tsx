'use client';
import { cn } from '@slipway/ui';
import { FileText, MessagesSquare, TextQuote, User } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { MessageKey } from '../../messages/translate.ts';
import { visibleText } from '../conversation/visible-text.ts';
import { isOffered, type Suggestion, type Suggestions } from './suggestion.ts';
import type { MentionBox } from './use-mention-box.ts';

const ICONS = { file: FileText, user: User, conversation: MessagesSquare, prompt: TextQuote } as const;
const KINDS: Record<Suggestion['kind'], MessageKey> = {
  file: 'mention.file',
  user: 'mention.user',
  conversation: 'mention.conversation',
  prompt: 'mention.prompt',
};

/**
 * The list above or below a box, where it is put and as wide as the box; the box keeps the focus.
 * @param side below where the box is at the top of a page: above it would be no room.
 */
export function MentionList({
  box,
  suggestions,
  side,
}: {
  box: MentionBox;
  suggestions: Suggestions;
  side: 'above' | 'below';
}) {
  const t = useTranslations();
  const { lines, isBusy, note } = suggestions;
  if (!isOffered(box.token, suggestions)) return null;
  const at = Math.min(box.at, lines.length - 1);
  return (
    <div className="relative">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the box keeps the focus while something in its list is pressed */}
      <div
        className={cn(
          'absolute inset-x-0 z-30 overflow-hidden rounded-lg border border-line-strong bg-surface shadow-float',
          side === 'above' ? 'bottom-1' : 'top-1',
        )}
        onMouseDown={(event) => event.preventDefault()}
      >
        <div
          role="listbox"
          id={box.listId}
          aria-label={t(box.token.mark === '/' ? 'mention.prompts' : 'mention.suggestions')}
          aria-busy={isBusy}
          tabIndex={-1}
          className="max-h-[40dvh] overflow-auto p-1 empty:hidden"
        >
          {lines.map((line, index) => (
            <Line
              key={`${line.kind} ${line.key}`}
              id={`${box.listId}-${index}`}
              line={line}
              isChosen={index === at}
              choose={() => box.choose(line)}
            />
          ))}
        </div>
        {lines.length === 0 && (isBusy || note === null || box.token.mark === '@') ? (
          <p className="px-3 py-2 text-sm text-ink-muted">{t(isBusy ? 'mention.searching' : 'mention.noMatch')}</p>
        ) : null}
        {note === null ? null : <p className="border-t border-line px-3 py-1.5 text-xs text-ink-muted">{note}</p>}
      </div>
      <span role="status" className="sr-only">
        {isBusy ? '' : t('mention.found', { count: lines.length })}
      </span>
    </div>
  );
}

function Line({ id, line, isChosen, choose }: { id: string; line: Suggestion; isChosen: boolean; choose: () => void }) {
  const t = useTranslations();
  const Icon = ICONS[line.kind];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the box's
    <div
      role="option"
      id={id}
      tabIndex={-1}
      aria-selected={isChosen}
      onClick={choose}
      ref={(element) => {
        if (isChosen) element?.scrollIntoView({ block: 'nearest' });
      }}
      className={cn(
        'flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 py-1 text-sm touch:min-h-11',
        isChosen && 'bg-raised',
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0 text-ink-muted" />
      <span className="sr-only">{t(KINDS[line.kind])}</span>
      <span dir="auto" className="min-w-0 truncate">
        {visibleText(line.label)}
      </span>
      {line.detail === null ? null : (
        <span dir="auto" className="ml-auto min-w-0 max-w-[50%] shrink truncate text-xs text-ink-muted">
          {visibleText(line.detail)}
        </span>
      )}
    </div>
  );
}
