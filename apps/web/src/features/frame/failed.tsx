'use client';
import { Button, ErrorState } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { failureOf } from '../../api/failure.ts';

/** A failed panel: what failed, what to do, and Retry. */
export function Failed({ error, retry, className }: { error: unknown; retry?: () => void; className?: string }) {
  const t = useTranslations();
  const failure = failureOf(error);
  return (
    <ErrorState
      title={failure.title}
      detail={failure.detail}
      nextStep={failure.nextStep}
      requestId={failure.requestId}
      className={className}
      action={retry ? <Button onClick={retry}>{t('common.retry')}</Button> : null}
    />
  );
}
