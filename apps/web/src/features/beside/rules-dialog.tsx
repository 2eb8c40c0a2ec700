'use client';
import type { ConfirmationRule } from '@slipway/contracts/conversations';
import { Button, Dialog, ErrorState, Skeleton, useSkeleton } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { showFailure } from '../run-settings/use-run-settings.ts';
import { useSession } from '../session/me.ts';

/** What "always here" was said to in this conversation; each can be taken back. */
export function RulesDialog({ onClose }: { onClose: () => void }) {
  const t = useTranslations();
  const { conversation, orgId } = useConversation();
  const target = { org: orgId, conversation: conversation.id };
  const queryKey = ['confirmation-rules', orgId, conversation.id];
  const rules = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.listConfirmationRules({ ...target, signal }),
    staleTime: 0,
  });
  const waiting = useSkeleton(rules.isPending);
  const failure = rules.isError ? failureOf(rules.error) : null;
  const list = rules.data?.data ?? [];
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('beside.approvalRules2')}
      description={t('beside.actionsAllowedWithoutAskingIn')}
    >
      <div className="flex flex-col gap-3 p-4">
        {waiting === 'blank' ? null : waiting === 'skeleton' ? (
          <Skeleton className="h-16" />
        ) : failure !== null ? (
          <ErrorState
            title={failure.title}
            detail={failure.detail}
            {...(failure.requestId === undefined ? {} : { requestId: failure.requestId })}
            action={<Button onClick={() => void rules.refetch()}>{t('common.retry')}</Button>}
          />
        ) : rules.isSuccess && list.length === 0 ? (
          <p className="text-sm text-ink-muted">{t('beside.noRulesApproveACommand')}</p>
        ) : (
          <ul className="flex flex-col gap-2">
            {list.map((rule) => (
              <Rule
                key={`${rule.tool_name} ${rule.match} ${rule.value}`}
                rule={rule}
                target={target}
                queryKey={queryKey}
              />
            ))}
          </ul>
        )}
        <div className="flex justify-end">
          <Button tone="quiet" onClick={onClose}>
            {t('common.close')}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Rule({
  rule,
  target,
  queryKey,
}: {
  rule: ConfirmationRule;
  target: { org: string; conversation: string };
  queryKey: readonly string[];
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const { by, ...body } = rule;
  const revoke = useMutation({
    mutationFn: () => api.revokeConfirmationRule({ ...target, body }),
    onSuccess: (left) => queries.setQueryData([...queryKey], left),
    onError: showFailure,
  });
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1 rounded-md border border-line px-3 py-2">
      <div className="min-w-0 flex-1 basis-56">
        <p className="font-mono text-xs break-all">{rule.match === 'prefix' ? `${rule.value} …` : rule.value}</p>
        <p className="text-xs text-ink-muted">
          {rule.match === 'prefix'
            ? t('beside.anyContinuation', { toolname: rule.tool_name })
            : t('beside.exactlyThis', { toolname: rule.tool_name })}
          {by === undefined ? '' : t('beside.allowedBy', { by })}
        </p>
      </div>
      {org.permissions.includes('conversation:write') ? (
        <Button
          size="small"
          busy={revoke.isPending}
          onClick={() => revoke.mutate()}
          aria-label={t('beside.removeRule', { value: rule.value })}
        >
          {t('beside.remove')}
        </Button>
      ) : null}
    </li>
  );
}
