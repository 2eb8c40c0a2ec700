import { Button, Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { Failure } from '../../api/failure.ts';
import { FormFailure } from './form-failure.tsx';

/** What the server refused of a versioned form; that somebody else was faster is told with the way on. */
export function VersionedFailure({ failure, what, reread }: { failure: Failure | null; what: string; reread: () => void }) {
  const t = useTranslations();
  if (failure?.code !== 'settings.changed') return <FormFailure failure={failure} />;
  return (
    <Notice tone="warn" title={t('form.someoneElseHasChanged', { what })} action={<Button onClick={reread}>{t('form.reload')}</Button>}>
      {t('form.yourChangesAreNotSaved')}
    </Notice>
  );
}
