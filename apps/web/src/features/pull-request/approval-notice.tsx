'use client';
import { Button, Notice } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { failureOfCode } from '../../api/failure.ts';
import { useAddressValue } from '../../browser/address.ts';

/** What became of an approval, as the browser came back with it from the git host. */
export function ApprovalNotice({ host }: { host: string }) {
  const t = useTranslations();
  const [approved, setApproved] = useAddressValue('approved');
  const [problem, setProblem] = useAddressValue('problem');
  if (problem !== null) {
    const failure = failureOfCode(problem);
    return (
      <Notice
        tone="bad"
        title={failure.title}
        action={<Button onClick={() => setProblem(null)}>{t('pullRequest.dismiss')}</Button>}
      >
        {t('pullRequest.notApproved', { nextStep: failure.nextStep ?? '' })}{' '}
        {problem === 'pull-request.not-linked' ? (
          <Link className="underline" href="/settings/linked-accounts">
            {t('common.linkedAccounts')}
          </Link>
        ) : null}
      </Notice>
    );
  }
  if (approved === null) return null;
  return (
    <Notice tone="ok" action={<Button onClick={() => setApproved(null)}>{t('pullRequest.dismiss')}</Button>}>
      {t('pullRequest.approvedAt', { number: approved, host })}
    </Notice>
  );
}
