'use client';
import { Button } from '@slipway/ui';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { toast } from 'sonner';
import type { UsageFilters } from './usage-filters.ts';

/** Longest wait for the table. Milliseconds. */
const TIMEOUT_MS = 60_000;

/**
 * The numbers of the page as a table for spreadsheets, a line a day and group. A link could not ask for another media
 * type.
 */
export function CsvButton({
  orgId,
  span,
  by,
}: {
  orgId: string;
  span: { readonly from: string; readonly to: string };
  by: UsageFilters['by'];
}) {
  const t = useTranslations();
  const download = useMutation({
    mutationFn: async () => {
      const query = new URLSearchParams({ ...span, groupBy: `day,${by}` });
      const answer = await fetch(`/api/v1/orgs/${encodeURIComponent(orgId)}/usage?${query}`, {
        headers: { accept: 'text/csv' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!answer.ok) throw new Error(`The table could not be made (${answer.status}).`);
      return answer.blob();
    },
    onSuccess: (table) => {
      const address = URL.createObjectURL(table);
      const link = Object.assign(document.createElement('a'), {
        href: address,
        download: `slipway-usage-${span.from}-${span.to}-by-${by}.csv`,
      });
      link.click();
      URL.revokeObjectURL(address);
    },
    onError: (error) => void toast.error(error.message),
  });
  return (
    <Button busy={download.isPending} onClick={() => download.mutate()}>
      <Download aria-hidden /> {t('adminUsage.csv')}
    </Button>
  );
}
