'use client';
import { Globe } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { Translate } from '../../../messages/translate.ts';
import { picturesOf } from '../pictures.ts';
import { type Step, stepState } from '../timeline-row.ts';
import { browserDeed } from './browser-deed.ts';
import { Output, outputOf } from './step-bodies.tsx';
import type { StepParts } from './step-parts.ts';
import { Pictures } from './step-pictures.tsx';

/** How an action of the browser stands in the timeline; `null` for another kind of call. */
export function browserStep(t: Translate, step: Step): StepParts | null {
  const deed = browserDeed(t, step);
  if (deed === null) return null;
  return {
    icon: <Globe aria-hidden />,
    label: (
      <>
        {deed.verb} {deed.what === '' ? null : <code className="font-mono text-xs text-ink">{deed.what}</code>}
      </>
    ),
    aside: picturesOf(step.observation).length === 0 ? null : <span>{t('conversation.withAPicture')}</span>,
    body: <BrowserBody step={step} />,
  };
}

function BrowserBody({ step }: { step: Step }) {
  const t = useTranslations();
  // For the model the page's words stand between marks; here they stand in a box of their own anyway.
  const text = outputOf(step).replaceAll(/^<\/?page-content [0-9a-f]{8}>.*\n?/gm, '');
  return (
    <div className="flex flex-col gap-1.5">
      <Pictures step={step} />
      <Output
        text={text}
        label={t('conversation.browserResponse')}
        tone={stepState(step) === 'failed' ? 'bad' : 'plain'}
      />
      {text === '' && stepState(step) === 'running' ? (
        <p className="text-xs text-ink-muted">{t('conversation.noResponseYet')}</p>
      ) : null}
    </div>
  );
}
