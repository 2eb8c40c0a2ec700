'use client';
import { CreateConversation } from '@slipway/contracts/conversations';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useTranslations } from 'next-intl';
import { type RefObject, type SyntheticEvent, useRef, useState } from 'react';
import { api, newId } from '../../api/client.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { sentenceOf, wordsOfIssue } from '../../api/sentence.ts';
import { useStored } from '../../browser/stored.ts';
import { type AttachedFile, keptOf } from '../attachments/attached-file.ts';
import { type Attachments, useAttachments } from '../attachments/use-attachments.ts';
import { useSession } from '../session/me.ts';
import { afterSend, type Draft, draftKey, EMPTY_DRAFT, readDraft } from './draft.ts';

export interface StartTask {
  readonly draft: Draft;
  readonly change: (part: Partial<Draft>) => void;
  readonly attachments: Attachments;
  /** What is wrong with a field, by its name. */
  readonly errors: Readonly<Record<string, string>>;
  readonly failure: Failure | null;
  readonly isSending: boolean;
  readonly form: RefObject<HTMLFormElement | null>;
  readonly submit: (event?: SyntheticEvent) => void;
}

/** The request that a draft means; empty fields are left to the server. */
function requestOf(draft: Draft, files: readonly AttachedFile[], withoutText: string): unknown {
  return {
    prompt: draft.prompt.trim() === '' && files.length > 0 ? withoutText : draft.prompt,
    ...(files.length === 0 ? {} : { attachments: keptOf(files).map(({ id }) => id) }),
    ...(draft.repository.trim() ? { repository: draft.repository.trim() } : {}),
    ...(draft.branch.trim() ? { branch: draft.branch.trim() } : {}),
    ...(draft.model ? { model: draft.model } : {}),
    ...(draft.agentType === 'default' ? {} : { agentType: draft.agentType }),
    ...(draft.maxIterations.trim() ? { maxIterations: Number(draft.maxIterations) } : {}),
    ...(draft.maxBudgetUsd.trim() ? { maxBudgetUsd: draft.maxBudgetUsd.trim().replace(/^\$\s*/, '') } : {}),
  };
}

/** The task that is written, with its files, and how it is sent. */
export function useStartTask(): StartTask {
  const t = useTranslations();
  const { org } = useSession();
  const router = useRouter();
  const queries = useQueryClient();
  const [stored, store] = useStored(draftKey(org.id), '');
  const draft = stored === '' ? EMPTY_DRAFT : readDraft(stored);
  const change = (part: Partial<Draft>) =>
    store((before) => JSON.stringify({ ...(before === '' ? EMPTY_DRAFT : readDraft(before)), ...part }));
  const attachments = useAttachments(org.id, null);
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const form = useRef<HTMLFormElement>(null);
  /** One key for one draft: pressing again after a lost answer does not start a second agent. */
  const attempt = useRef({ body: '', key: '' });

  const create = useMutation({
    mutationFn: (body: CreateConversation) => {
      const text = JSON.stringify(body);
      if (attempt.current.body !== text) attempt.current = { body: text, key: newId() };
      return api.createConversation({ org: org.id, body, idempotencyKey: attempt.current.key });
    },
    onSuccess: (conversation) => {
      store(JSON.stringify(afterSend(draft)));
      attachments.take();
      queries.setQueryData(['conversation', org.id, conversation.id], conversation);
      void queries.invalidateQueries({ queryKey: ['conversations', org.id] });
      router.push(`/${org.slug}/conversations/${conversation.id}`);
    },
    onError: (error) =>
      setErrors(Object.fromEntries(failureOf(error).fields.map((field) => [field.path, sentenceOf(t, field.message)]))),
  });

  const submit = (event?: SyntheticEvent) => {
    event?.preventDefault();
    if (create.isPending || !attachments.ready) return;
    const parsed = CreateConversation.safeParse(requestOf(draft, attachments.files, t('attachments.lookAtThem')));
    // Of two faults of one field the first says more: that it is no address at all.
    setErrors(
      parsed.success
        ? {}
        : Object.fromEntries(
            parsed.error.issues
              .toReversed()
              .map((issue) => [String(issue.path[0] ?? ''), sentenceOf(t, wordsOfIssue(issue))]),
          ),
    );
    if (parsed.success) return create.mutate(parsed.data);
    // Once the fields are marked, the first of them is where to type.
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
  };

  const failure = create.isError ? failureOf(create.error) : null;
  return { draft, change, attachments, errors, failure, isSending: create.isPending, form, submit };
}
