'use client';
import { PublishPullRequest, type PullRequest } from '@slipway/contracts/repositories';
import { Button, Checkbox, Dialog, Field, Input, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { api } from '../../api/client.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { type Form, useForm } from '../form/use-form.ts';
import { useKeepPullRequest } from './use-pull-requests.ts';

/** Publishes what the workspace holds: opens the pull request, or brings it up to date. */
export function PublishDialog({ pull, onClose }: { pull: PullRequest | null; onClose: () => void }) {
  const t = useTranslations();
  const isNew = pull === null || pull.number === null;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={isNew ? t('pullRequest.createPullRequest2') : t('pullRequest.update', { number: pull.number ?? '' })}
      className="w-[min(560px,calc(100vw-32px))]"
    >
      <PublishForm pull={pull} isNew={isNew} onClose={onClose} />
    </Dialog>
  );
}

function PublishForm({ pull, isNew, onClose }: { pull: PullRequest | null; isNew: boolean; onClose: () => void }) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const conversationTitle = useView((view) => view.title);
  const keep = useKeepPullRequest();
  /** Only after a refusal for them: nobody is offered to wave them through unasked. */
  const hasProtectedPaths = pull?.problem?.code === 'pull-request.protected-paths';
  const form = useForm({
    initial: {
      title: pull?.title ?? conversationTitle,
      body: '',
      base: '',
      draft: true,
      allowProtectedPaths: false,
      protectedChanges: '',
    },
    schema: PublishPullRequest,
    requestOf: ({ title, body, base, draft, allowProtectedPaths, protectedChanges }) => ({
      ...(title.trim() === '' ? {} : { title }),
      ...(body.trim() === '' ? {} : { body }),
      ...(isNew && base.trim() !== '' ? { base: base.trim() } : {}),
      draft,
      allowProtectedPaths,
      ...(allowProtectedPaths && protectedChanges !== '' ? { protectedChanges } : {}),
    }),
    send: (body) => api.publishPullRequest({ org: orgId, conversation: conversation.id, body }),
    onDone: (published) => {
      keep(published);
      onClose();
    },
  });
  const { values } = form;
  return (
    <form {...form.props} className="flex flex-col gap-4 p-4">
      <p className="text-sm text-ink-muted">
        {isNew ? t('pullRequest.slipwayPushesTheAgentsCommits') : t('pullRequest.newCommitsArePushedTo')}
      </p>
      <Field label={t('pullRequest.title')} error={form.error('title')}>
        {(control) => (
          <Input
            {...control}
            data-autofocus
            maxLength={250}
            value={values.title}
            onChange={(event) => form.set('title', event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t('pullRequest.description')}
        hint={isNew ? t('pullRequest.markdownLeaveEmptyToUse') : t('pullRequest.markdownLeaveEmptyToKeep')}
        error={form.error('body')}
      >
        {(control) => (
          <Textarea
            {...control}
            rows={5}
            value={values.body}
            onChange={(event) => form.set('body', event.target.value)}
          />
        )}
      </Field>
      {isNew ? <NewPullRequestFields form={form} branch={conversation.branch} /> : null}
      {hasProtectedPaths ? (
        <Checkbox
          label={t('pullRequest.includeChangesToCiCode')}
          hint={pull?.problem?.detail ?? ''}
          checked={values.allowProtectedPaths}
          onChange={(allowed) => {
            form.set('allowProtectedPaths', allowed);
            // Those that are shown now: when the agent changes them meanwhile, the permission is not for what it has
            // made of them.
            form.set('protectedChanges', pull?.problem?.protectedChanges ?? '');
          }}
        />
      ) : null}
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {isNew ? t('common.create') : t('pullRequest.update2')}
        </Button>
      </div>
    </form>
  );
}

function NewPullRequestFields({
  form,
  branch,
}: {
  form: Pick<Form<{ base: string; draft: boolean }>, 'values' | 'set' | 'error'>;
  branch: string | null;
}) {
  const t = useTranslations();
  return (
    <>
      <Field
        label={t('pullRequest.baseBranch')}
        hint={t('pullRequest.leaveEmptyForTheBranch')}
        error={form.error('base')}
      >
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder={branch ?? t('pullRequest.defaultBranch')}
            value={form.values.base}
            onChange={(event) => form.set('base', event.target.value)}
          />
        )}
      </Field>
      <Checkbox
        label={t('pullRequest.createAsDraft')}
        hint={t('pullRequest.noReviewIsRequestedYet')}
        checked={form.values.draft}
        onChange={(draft) => form.set('draft', draft)}
      />
    </>
  );
}
