'use client';
import { Button, Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { failureOfCode } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';

/** What kept an app from being registered or installed, as the browser came back with it. */
export function ComeBackProblem() {
  const t = useTranslations();
  const [problem, setProblem] = useAddressValue('problem');
  if (problem === null) return null;
  const failure = failureOfCode(problem);
  return (
    <Notice
      tone="bad"
      title={failure.title}
      action={<Button onClick={() => setProblem(null)}>{t('adminIntegrations.dismiss')}</Button>}
    >
      {t('adminIntegrations.nothingWasChanged', { nextStep: failure.nextStep })}
    </Notice>
  );
}
