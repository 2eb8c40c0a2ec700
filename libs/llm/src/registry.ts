import { LLM, type LlmConfig, type LlmTotals } from './llm.js';

/** What a model is asked for. */
export type LlmUsage = 'agent' | 'condenser' | 'title' | 'ask-agent' | 'sub-agent' | 'edit';

/**
 * The LLMs of one conversation by their usage, as the seeds' registry has them. A usage that has none of its own is
 * served by the agent's model, and counted apart.
 */
export class LlmRegistry {
  private readonly llms = new Map<LlmUsage, LLM>();
  private readonly configs: Map<LlmUsage, LlmConfig>;

  constructor(configs: Readonly<{ agent: LlmConfig } & Partial<Record<LlmUsage, LlmConfig>>>) {
    this.configs = new Map(Object.entries(configs) as Array<[LlmUsage, LlmConfig]>);
  }

  get(usage: LlmUsage): LLM {
    const known = this.llms.get(usage);
    if (known !== undefined) return known;
    const config = this.configs.get(usage) ?? this.configs.get('agent');
    if (config === undefined) throw new Error('a registry without a model');
    const made = new LLM({ ...config, usage });
    this.llms.set(usage, made);
    return made;
  }

  /**
   * Another model from the next call on; a call under way ends with the one that it began with. What was counted stays.
   */
  switch(usage: LlmUsage, config: LlmConfig): void {
    this.configs.set(usage, config);
    for (const [each, llm] of this.llms)
      if (each === usage || (usage === 'agent' && !this.configs.has(each))) llm.use({ ...config, usage: each });
  }

  /** What was used so far, by usage. */
  get totals(): Readonly<Partial<Record<LlmUsage, LlmTotals>>> {
    return Object.fromEntries([...this.llms].map(([usage, llm]) => [usage, llm.total]));
  }
}
