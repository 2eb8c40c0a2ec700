'use client';
import type { OpenSandboxAccess, SandboxAccess } from '@slipway/contracts/sandboxes';
import {
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { useConversation, useView } from '../conversation/conversation-context.ts';
import { handInTicket, mayOpenTab } from './hand-in-ticket.ts';
import type { PortAddress } from './port-address.ts';
import { type Reach, reachOf } from './reach.ts';

/** Who has what open; read again when something changes here and when the user comes back to the page. */
export function useAccessList(): UseQueryResult<OpenSandboxAccess[]> {
  const { orgId, conversation } = useConversation();
  return useQuery({
    queryKey: ['sandbox-access', orgId, conversation.id],
    queryFn: async ({ signal }) =>
      (await api.listSandboxAccess({ org: orgId, conversation: conversation.id, signal })).data,
  });
}

/** Whether there is a sandbox to reach into, asked again when the conversation's status changes. */
export function useReach(): Reach {
  const { orgId, conversation } = useConversation();
  const status = useView((view) => view.status);
  const { data } = useQuery({
    queryKey: ['sandbox-status', orgId, conversation.id, status],
    queryFn: async ({ signal }) =>
      (await api.getConversation({ org: orgId, conversation: conversation.id, signal })).sandboxStatus,
    staleTime: 0,
    gcTime: 0,
  });
  return reachOf(status, data);
}

interface Opened {
  readonly access: SandboxAccess;
  readonly address: PortAddress;
}

export interface PortOpening {
  readonly open: UseMutationResult<Opened, Error, PortAddress>;
  /** Granted so late that the browser would not open a tab by itself any more: one more press does. `null` else. */
  readonly held: Opened | null;
  readonly openHeld: () => void;
}

/** Asks for a way into a port and opens it in a new tab. */
export function usePortOpening(): PortOpening {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const [held, setHeld] = useState<Opened | null>(null);
  const open = useMutation({
    mutationFn: async (address: PortAddress): Promise<Opened> => ({
      access: await api.grantSandboxAccess({ org: orgId, conversation: conversation.id, body: { port: address.port } }),
      address,
    }),
    // Not kept: a ticket is good for one tab.
    gcTime: 0,
    networkMode: 'always',
    onMutate: () => setHeld(null),
    onSuccess: (opened) => {
      if (mayOpenTab()) handInTicket(opened.access, opened.address.path);
      else setHeld(opened);
      void queries.invalidateQueries({ queryKey: ['sandbox-access', orgId, conversation.id] });
    },
  });
  const openHeld = () => {
    if (held === null) return;
    setHeld(null);
    if (Date.parse(held.access.ticket.expiresAt) > Date.now()) handInTicket(held.access, held.address.path);
    else open.mutate(held.address);
  };
  return { open, held, openHeld };
}

/** Ends the named accesses, or with `all` everybody's. What is open in tabs is cut within a second. */
export function useEndAccess(onEnded: () => void): UseMutationResult<void, Error, readonly string[] | 'all'> {
  const { orgId, conversation } = useConversation();
  const queries = useQueryClient();
  const target = { org: orgId, conversation: conversation.id };
  return useMutation({
    mutationFn: async (which: readonly string[] | 'all') => {
      if (which === 'all') await api.revokeAllSandboxAccess(target);
      else await Promise.all(which.map((access) => api.revokeSandboxAccess({ ...target, access })));
    },
    networkMode: 'always',
    onError: (error) => {
      const failure = failureOf(error);
      toast.error(failure.title, { description: [failure.detail, failure.nextStep].filter(Boolean).join(' ') });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['sandbox-access', orgId, conversation.id] }),
    onSuccess: onEnded,
  });
}
