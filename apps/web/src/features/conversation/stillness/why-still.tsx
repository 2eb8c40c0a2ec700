'use client';
import { useTranslations } from 'next-intl';
import { duration } from '../../../browser/format.ts';
import type { Translate } from '../../../messages/translate.ts';
import { useConversation, useView } from '../conversation-context.ts';
import { short, stepText } from '../row-name.ts';
import { START_NAMES } from '../start-words.ts';
import { workspacePaths } from '../workspace-path.ts';
import { type Stillness, stillnessOf } from './stillness.ts';
import { useStillFor } from './use-still-for.ts';

/** One line with the cause, when no event has come for long while one is due. Takes no room before. */
export function WhyStill() {
  const t = useTranslations();
  const { store, conversation } = useConversation();
  const due = useView((view) => view.status === 'working' || view.status === 'starting');
  const seconds = useStillFor(due);
  const why = seconds === null ? null : stillnessOf(store.view.get());
  if (why === null || seconds === null) return null;
  const command =
    why.on === 'tool'
      ? stepText(why.step, { t, reader: undefined, paths: workspacePaths(conversation.repository) })
      : '';
  return (
    <p className="pb-2 text-sm text-ink-muted tabular-nums [overflow-wrap:anywhere]">
      {sentence(t, why, command)} {t('reading.nothingNewFor', { time: duration(seconds * 1_000) })}
    </p>
  );
}

function sentence(t: Translate, why: Stillness, command: string): string {
  switch (why.on) {
    case 'queue':
      return why.estimateSeconds === null
        ? t('reading.waitsInQueue', { place: why.place, length: why.length ?? 0 })
        : t('reading.waitsInQueueFor', {
            place: why.place,
            length: why.length ?? 0,
            time: duration(why.estimateSeconds * 1_000),
          });
    case 'start':
      return why.step.detail === undefined
        ? t('reading.starts', { step: t(START_NAMES[why.step.status]) })
        : t('reading.startsWith', { step: t(START_NAMES[why.step.status]), detail: short(why.step.detail) });
    case 'tool':
      return t('reading.toolRuns', { command });
    case 'retry':
      return t('reading.modelFailed', { count: why.failures, detail: short(why.detail) });
    case 'model':
      return t('reading.modelAnswers');
  }
}
