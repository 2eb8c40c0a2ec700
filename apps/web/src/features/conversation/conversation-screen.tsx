'use client';
import type { Conversation } from '@slipway/contracts/conversations';
import { Sheet } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useMemo, useState } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { useMedia, WIDE } from '../../browser/media.ts';
import { ApprovalCard } from '../approval/approval-card.tsx';
import { SidePanel } from '../changes/side-panel.tsx';
import { GoneState } from '../conversation-edits/gone-state.tsx';
import { EgressCard } from '../egress/egress-card.tsx';
import { LimitCard } from '../run-settings/limit-card.tsx';
import { PlanCard } from '../run-settings/plan-card.tsx';
import { EndNote } from '../runtime/end-note.tsx';
import { useSession } from '../session/me.ts';
import { Announcer } from './announcer.tsx';
import { ConversationContext, useSlice } from './conversation-context.ts';
import { ConversationHeader } from './conversation-header.tsx';
import { ConversationStore, type Schedule } from './conversation-store.ts';
import { MessageComposer } from './message-composer.tsx';
import { OpenRows } from './open-rows.ts';
import { Reveal } from './reveal.ts';
import { RowRenderer } from './rows/row-renderer.ts';
import { RowView } from './rows/row-view.tsx';
import { TimelineList } from './timeline-list.tsx';
import type { Row } from './timeline-row.ts';
import { useHistoryPages } from './use-history-pages.ts';
import { useSocket } from './use-socket.ts';

/** Before the next paint; a hidden page paints nothing, so there a timer stands in. */
const beforePaint: Schedule = (work) => {
  if (document.hidden) setTimeout(work, 100);
  else requestAnimationFrame(work);
};

const rowView = (row: Row) => <RowView row={row} />;

export function ConversationScreen({ snapshot }: { snapshot: Conversation }) {
  const t = useTranslations();
  const { org } = useSession();
  const [{ scope, gaps }] = useState(() => {
    const gaps = new EventTarget();
    const store = new ConversationStore(snapshot, beforePaint, () => gaps.dispatchEvent(new Event('gap')));
    return {
      gaps,
      scope: {
        store,
        conversation: snapshot,
        orgId: org.id,
        openRows: new OpenRows(),
        reveal: new Reveal(),
      },
    };
  });
  useSocket(scope.store, org.id, snapshot.id, gaps);
  const history = useHistoryPages(scope.store, org.id, snapshot.id);
  const wide = useMedia(WIDE);
  const [tab, setTab] = useAddressValue('tab');
  const panel = useMemo(() => <SidePanel />, []);
  const gone = useSlice(scope.store.gone);
  if (gone)
    return (
      <ConversationContext value={scope}>
        <GoneState onRestored={() => gaps.dispatchEvent(new Event('gap'))} />
      </ConversationContext>
    );
  return (
    <ConversationContext value={scope}>
      <div className="flex h-full flex-col">
        <ConversationHeader />
        <div className="flex min-h-0 flex-1">
          <section aria-label={t('common.conversation')} className="flex min-w-0 flex-1 flex-col">
            <RowRenderer value={rowView}>
              <TimelineList history={history} />
            </RowRenderer>
            <EgressCard />
            <ApprovalCard />
            <LimitCard />
            <PlanCard />
            <EndNote />
            <MessageComposer />
          </section>
          {wide ? (
            <aside
              aria-label={t('conversation.changesAndDetails')}
              className="w-[44%] min-w-[340px] shrink-0 border-l border-line bg-surface"
            >
              {panel}
            </aside>
          ) : (
            <Sheet
              open={tab !== null}
              onOpenChange={(open) => setTab(open ? 'changes' : null)}
              title={t('conversation.changesAndDetails')}
            >
              {panel}
            </Sheet>
          )}
        </div>
        <Announcer />
      </div>
    </ConversationContext>
  );
}
