'use client';
import { blobRefOf } from '@slipway/contracts';
import { Button } from '@slipway/ui';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { bytes } from '../../browser/format.ts';
import { useConversation } from './conversation-context.ts';

/** Longest text that is put on the page unasked. UTF-16 code units. */
const FOLD_AT = 8_000;
/** Longest text that is put on the page at all; more is for a download. UTF-16 code units. */
const SHOW_AT_MOST = 400_000;

/** A text that may be cut, or be a blob of its own: begins with its beginning, the rest comes when asked for. */
export function LongText({ text, className }: { text: string; className?: string }) {
  const { orgId, conversation } = useConversation();
  const [whole, setWhole] = useState(false);
  const ref = blobRefOf(text);
  const blob = useQuery({
    queryKey: ['blob', ref?.sha256],
    queryFn: async ({ signal }) => (await api.readBlob({ org: orgId, conversation: conversation.id, sha256: ref?.sha256 ?? '', signal })).text(),
    enabled: whole && ref !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const known = blob.data ?? ref?.preview ?? text;
  const shown = known.slice(0, whole ? SHOW_AT_MOST : FOLD_AT);
  const complete = ref === null || blob.data !== undefined;
  const size = ref?.bytes ?? text.length;
  return (
    <div>
      <div className={className}>{shown}</div>
      {shown.length === known.length && complete ? null : whole && blob.isError ? (
        <p className="mt-1 text-xs text-bad">The rest could not be read. Close and open it to try again.</p>
      ) : whole && complete ? (
        <p className="mt-1 text-xs text-ink-muted">
          Only the first {bytes(SHOW_AT_MOST)} of {bytes(size)} are shown.
        </p>
      ) : (
        <Button size="small" className="mt-1.5" busy={whole && blob.isFetching} onClick={() => setWhole(true)}>
          Show all ({bytes(size)})
        </Button>
      )}
    </div>
  );
}
