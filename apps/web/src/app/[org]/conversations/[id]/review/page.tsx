import type { Metadata } from 'next';
import { getTranslations } from 'next-intl/server';
import { ReviewPage } from '../../../../../features/review/review-page.tsx';
import { WithMessages } from '../../../../../messages/with-messages.tsx';

export async function generateMetadata(): Promise<Metadata> {
  const t = await getTranslations();
  return { title: t('common.review') };
}

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return (
    <WithMessages of={['changes', 'conversation', 'conversations', 'pullRequest', 'reviewPage', 'runtime']}>
      <ReviewPage key={id} id={id} />
    </WithMessages>
  );
}
