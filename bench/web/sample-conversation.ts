import type { FakeConversation } from './fake-app.ts';
import { sampleLog } from './sample-log.ts';

/** A conversation of `events` events, at work. */
export function sampleConversation(id: string, events: number, began: number): FakeConversation {
  return {
    summary: {
      id,
      orgId: 'org_stand_in',
      title: `${events} events`,
      status: 'working',
      executionStatus: 'running',
      sandboxStatus: 'RUNNING',
      repository: 'https://git.example/importer.git',
      branch: 'main',
      model: 'slipway-demo',
      createdBy: { id: 'usr_stand_in', label: 'Demo Person' },
      createdAt: new Date(began).toISOString(),
      updatedAt: new Date(began).toISOString(),
      head: events,
      costUsd: '1.0000',
      promptTokens: 1,
      completionTokens: 1,
      pullRequest: null,
      stopReason: null,
      pinned: false,
      tags: [],
      archivedAt: null,
      deletedAt: null,
      readSeq: 0,
    },
    start: { status: 'READY', steps: [] },
    log: sampleLog(id, events, began),
    files: [],
    queued: [],
  };
}
