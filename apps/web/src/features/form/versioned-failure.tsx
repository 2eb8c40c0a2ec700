import { Button, Notice } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { Failure } from '../../api/failure.ts';
import { FormFailure } from './form-failure.tsx';

/** What the server refused of a versioned form; a conflict is shown with the way to resolve it. */
export function VersionedFailure({
  failure,
  what,
  reread,
}: {
  failure: Failure | null;
  what: string;
  reread: () => void;
}) {
  const t = useTranslations();
  if (failure?.code !== 'settings.changed') return <FormFailure failure={failure} />;
  return (
    <Notice
      tone="warn"
      title={t('form.someoneElseHasChanged', { what })}
      action={<Button onClick={reread}>{t('form.reload')}</Button>}
    >
      {t('form.yourChangesAreNotSaved')}
    </Notice>
  );
}
