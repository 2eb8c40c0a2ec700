'use client';
import { blobRefOf } from '@slipway/contracts/events';
import { Button, ScrollBox, Select, SkeletonLines } from '@slipway/ui';
import { ScrollText, Wrench } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { CopyButton } from '../../browser/copy-button.tsx';
import { bytes, exactTime } from '../../browser/format.ts';
import type { Translate } from '../../messages/translate.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { LongText } from '../conversation/long-text.tsx';
import { Disclosure } from '../conversation/rows/disclosure.tsx';
import { Failed } from '../frame/failed.tsx';
import type { OfferedTool, PromptVersion } from './prompt-versions.ts';
import { usePromptVersions } from './use-prompt-versions.ts';

/** The system prompt and the tools that the model has, folded; what it had before can be chosen. */
export function PromptAndTools() {
  const t = useTranslations();
  const { query, versions } = usePromptVersions();
  const [chosen, setChosen] = useState<number | null>(null);
  const [newest] = versions;
  const shown = versions.find(({ seq }) => seq === chosen) ?? newest;
  return (
    <section aria-label={t('promptAndTools.systemPromptAndTools')} className="border-t border-line px-4 py-3">
      <h2 className="text-sm font-semibold">{t('promptAndTools.systemPromptAndTools')}</h2>
      {query.isPending ? (
        <SkeletonLines className="py-2" />
      ) : shown === undefined ? (
        query.isError ? (
          <Failed error={query.error} retry={() => void query.refetch()} className="mt-2" />
        ) : (
          <p className="mt-1 text-sm text-ink-muted">{t('promptAndTools.theAgentHasNotStarted')}</p>
        )
      ) : (
        <>
          {versions.length > 1 ? (
            <div className="mt-2 flex flex-wrap items-center gap-2">
              <Select
                aria-label={t('promptAndTools.version')}
                className="min-w-0 max-w-full flex-1"
                value={String(shown.seq)}
                options={versions.map((version) => ({
                  value: String(version.seq),
                  label: labelOf(t, version, version === newest),
                }))}
                onChange={(seq) => setChosen(Number(seq) === newest?.seq ? null : Number(seq))}
              />
              {query.hasNextPage ? (
                <Button size="small" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                  {t('promptAndTools.earlierVersions')}
                </Button>
              ) : null}
            </div>
          ) : null}
          {shown.change === '' ? null : (
            <p className="mt-1.5 text-xs break-words text-ink-muted">
              {t('promptAndTools.changesSinceThePreviousVersion', { change: shown.change })}
            </p>
          )}
          <Version version={shown} key={shown.seq} />
        </>
      )}
    </section>
  );
}

function labelOf(t: Translate, { at, tools }: PromptVersion, newest: boolean): string {
  return t('promptAndTools.from', {
    newest: newest ? 'yes' : 'no',
    count: tools.length,
    at: exactTime(at),
  });
}

/** As high as the line that opens. */
const BESIDE = 'grid h-8 shrink-0 place-items-center touch:h-11';

function Version({ version }: { version: PromptVersion }) {
  const t = useTranslations();
  const { orgId, conversation } = useConversation();
  const { prompt, tools } = version;
  const ref = blobRefOf(prompt);
  const whole = async (): Promise<string> =>
    ref === null
      ? prompt
      : (await api.readBlob({ org: orgId, conversation: conversation.id, sha256: ref.sha256 })).text();
  return (
    <div className="-mx-1.5 mt-1">
      <div className="flex items-start gap-1">
        <Disclosure
          rowKey="prompt-version:prompt"
          className="min-w-0 flex-1"
          icon={<ScrollText aria-hidden />}
          label={t('promptAndTools.systemPrompt')}
          aside={
            <span className="text-xs tabular-nums">{bytes(ref?.bytes ?? new TextEncoder().encode(prompt).length)}</span>
          }
        >
          <ScrollBox
            label={t('promptAndTools.theSystemPrompt')}
            className="max-h-[50dvh] overflow-auto rounded-lg border border-line bg-raised p-3"
          >
            <LongText
              text={prompt}
              className="font-mono text-xs leading-5 [overflow-wrap:anywhere] whitespace-pre-wrap"
            />
          </ScrollBox>
        </Disclosure>
        <span className={BESIDE}>
          <CopyButton label={t('promptAndTools.copySystemPrompt')} text={whole} />
        </span>
      </div>
      <div className="flex items-start gap-1">
        <Disclosure
          rowKey="prompt-version:tools"
          className="min-w-0 flex-1"
          icon={<Wrench aria-hidden />}
          label={t('promptAndTools.tools')}
          aside={<span className="text-xs tabular-nums">{tools.length}</span>}
        >
          <ul
            aria-label={t('promptAndTools.agentTools')}
            className="divide-y divide-line rounded-lg border border-line bg-surface"
          >
            {tools.map((tool, index) => (
              // Two servers may list the same name.
              // biome-ignore lint/suspicious/noArrayIndexKey: the list of one version never changes.
              <li key={`${tool.name}:${index}`} className="px-1">
                <Tool tool={tool} rowKey={`prompt-version:tool:${tool.name}:${index}`} />
              </li>
            ))}
          </ul>
        </Disclosure>
        <span className={BESIDE}>
          <CopyButton label={t('promptAndTools.copyToolsAsJson')} text={() => JSON.stringify(tools, null, 2)} />
        </span>
      </div>
    </div>
  );
}

function Tool({ tool: { name, description, parameters }, rowKey }: { tool: OfferedTool; rowKey: string }) {
  const t = useTranslations();
  return (
    <Disclosure
      rowKey={rowKey}
      icon={null}
      label={
        <>
          <code className="font-mono text-xs text-ink">{name}</code>{' '}
          <span className="text-xs">{description.split('\n', 1)[0]}</span>
        </>
      }
    >
      <div className="flex flex-col gap-2 pr-2 text-sm">
        {description === '' ? (
          <p className="text-ink-muted">{t('promptAndTools.noDescription')}</p>
        ) : (
          <LongText text={description} className="break-words whitespace-pre-wrap" />
        )}
        {parameters === null ? (
          <p className="text-xs text-ink-muted">{t('promptAndTools.theParametersAreNotRecorded')}</p>
        ) : parameters.length === 0 ? (
          <p className="text-xs text-ink-muted">{t('promptAndTools.noParameters')}</p>
        ) : (
          <ul
            aria-label={t('promptAndTools.parametersOf', { name })}
            className="flex flex-col gap-1.5 border-l-2 border-line pl-3"
          >
            {parameters.map((parameter) => (
              <li key={parameter.name} className="min-w-0 text-xs [overflow-wrap:anywhere]">
                <code className="font-mono font-medium text-ink">{parameter.name}</code>{' '}
                <span className="text-ink-muted">
                  {parameter.type}
                  {parameter.required ? t('promptAndTools.required') : ''}
                </span>
                {parameter.description === '' ? null : (
                  <p className="whitespace-pre-wrap text-ink">{parameter.description}</p>
                )}
              </li>
            ))}
          </ul>
        )}
      </div>
    </Disclosure>
  );
}
