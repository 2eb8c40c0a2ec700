'use client';
import { blobRefOf } from '@slipway/contracts/events';
import { Button } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { type ReactNode, useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { bytes } from '../../browser/format.ts';
import { useConversation } from './conversation-context.ts';

/** Longest text that is put on the page unasked. UTF-16 code units. */
const FOLD_AT = 8_000;
/** Longest text that is put on the page at all; more is for a download. UTF-16 code units. */
const SHOW_AT_MOST = 400_000;
/** The same where a user has to read all of it: longer than any command. UTF-16 code units. */
const MUST_SHOW = 2_000_000;

interface LongTextProps {
  readonly text: string;
  readonly className?: string;
  /** Direction of the text: of its own first letters, or `ltr` for code. */
  readonly dir?: 'auto' | 'ltr';
  /** What is shown of the text. Absent: the text itself. */
  readonly render?: (text: string) => ReactNode;
  /** Shows all of it unasked, as far as it can be shown. */
  readonly unfolded?: boolean;
  /** Fires when all of the text is on the page. */
  readonly onComplete?: () => void;
}

/** All of a text that may be a blob of its own, when it is asked for. */
export function useBlob(text: string): () => Promise<string> {
  const { orgId, conversation } = useConversation();
  const ref = blobRefOf(text);
  return async () =>
    ref === null
      ? text
      : (await api.readBlob({ org: orgId, conversation: conversation.id, sha256: ref.sha256 })).text();
}

/** A text that may be cut, or be a blob of its own: begins with its beginning, the rest comes when asked for. */
export function LongText({ text, className, dir = 'auto', render, unfolded = false, onComplete }: LongTextProps) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const [whole, setWhole] = useState(unfolded);
  const ref = blobRefOf(text);
  const blob = useQuery({
    queryKey: ['blob', ref?.sha256],
    queryFn: async ({ signal }) =>
      (await api.readBlob({ org: orgId, conversation: conversation.id, sha256: ref?.sha256 ?? '', signal })).text(),
    enabled: whole && ref !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const known = blob.data ?? ref?.preview ?? text;
  const most = unfolded ? MUST_SHOW : SHOW_AT_MOST;
  const shown = known.slice(0, whole ? most : FOLD_AT);
  const complete = ref === null || blob.data !== undefined;
  const size = ref?.bytes ?? text.length;
  const all = shown.length === known.length && complete;
  useEffect(() => {
    if (all) onComplete?.();
  }, [all, onComplete]);
  return (
    <div>
      <div className={className} dir={dir}>
        {render === undefined ? shown : render(shown)}
      </div>
      {all ? null : whole && blob.isError ? (
        <p className="mt-1 text-xs text-bad">{t('conversation.theRestCouldNotBe')}</p>
      ) : whole && complete ? (
        <p className="mt-1 text-xs text-ink-muted">
          {t('conversation.onlyTheFirstOfAre', { most: bytes(most), size: bytes(size) })}
        </p>
      ) : (
        <Button size="small" className="mt-1.5" busy={whole && blob.isFetching} onClick={() => setWhole(true)}>
          {t('conversation.showAll', { size: bytes(size) })}
        </Button>
      )}
    </div>
  );
}
