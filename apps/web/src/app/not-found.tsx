import { Button, EmptyState } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { titled } from '../messages/titled.ts';

export const generateMetadata = titled('app.notFound');

export default function NotFound() {
  const t = useTranslations();
  return (
    <main className="grid h-dvh place-items-center">
      <EmptyState
        page
        title={t('app.pageNotFound')}
        action={
          <Button asChild>
            <Link href="/">{t('app.goHome')}</Link>
          </Button>
        }
      >
        {t('app.itMayHaveBeenDeleted')}
      </EmptyState>
    </main>
  );
}
