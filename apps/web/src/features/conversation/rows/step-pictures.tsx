'use client';
import { blobRefOf } from '@slipway/contracts/events';
import { Dialog } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { useConversation } from '../conversation-context.ts';
import { picturesOf } from '../pictures.ts';
import type { Step } from '../timeline-row.ts';

/** The pictures of an answer, small, and large when pressed; each on a light ground: plots are drawn for one. */
export function Pictures({ step }: { step: Step }) {
  const t = useTranslations();
  return picturesOf(step.observation).map((picture, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pictures of one answer never move
    <Picture key={index} source={picture} label={t('conversation.picture', { index: index + 1 })} />
  ));
}

function Picture({ source, label }: { source: string; label: string }) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const ref = blobRefOf(source);
  const blob = useQuery({
    queryKey: ['blob', ref?.sha256],
    queryFn: async ({ signal }) =>
      (await api.readBlob({ org: orgId, conversation: conversation.id, sha256: ref?.sha256 ?? '', signal })).text(),
    enabled: ref !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [open, setOpen] = useState(false);
  const url = ref === null ? source : blob.data;
  if (blob.isError) return <p className="text-xs text-bad">{t('conversation.couldNotBeLoadedClose', { label })}</p>;
  if (url === undefined) return <p className="text-xs text-ink-muted">{t('conversation.loading', { label })}</p>;
  if (!isPicture(url))
    return <p className="text-xs text-ink-muted">{t('conversation.hasAnUnsupportedFormat', { label })}</p>;
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        aria-label={t('conversation.open', { label: label.toLowerCase() })}
        className="max-w-full self-start rounded-md border border-line bg-white"
      >
        {/* biome-ignore lint/performance/noImgElement: a data URL has nothing to optimise */}
        <img src={url} alt={label} className="max-h-60 max-w-full rounded-md object-contain" />
      </button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={label}
        className="w-[min(1312px,calc(100vw-32px))] overflow-hidden"
      >
        {/* biome-ignore lint/performance/noImgElement: as above */}
        <img src={url} alt={label} className="mx-auto max-w-full bg-white" />
      </Dialog>
    </>
  );
}

/** Only pictures of dots: one of lines may hold more than lines. */
function isPicture(url: string): boolean {
  return /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/.test(url);
}
