/** Where secrets of the organization are kept. */
export interface SecretStore {
  /** @returns its id. */
  readonly create: (secret: {
    readonly name: string;
    readonly value: string;
    readonly server: string;
  }) => Promise<string>;
  readonly change: (id: string, value: string) => Promise<unknown>;
}

/**
 * The secrets that a dialog has kept for servers. An attempt whose server is refused leaves its secrets: the next one
 * does not keep them again, and gives one that was corrected meanwhile its new value.
 */
export class KeptSecrets {
  private readonly kept = new Map<string, { readonly id: string; readonly value: string }>();
  private readonly store: SecretStore;

  constructor(store: SecretStore) {
    this.store = store;
  }

  has(name: string): boolean {
    return this.kept.has(name);
  }

  /** @throws what the store throws: this one, and those after it, are not kept then. */
  async keep(secrets: ReadonlyArray<{ readonly name: string; readonly value: string }>, server: string): Promise<void> {
    for (const { name, value } of secrets) {
      const before = this.kept.get(name);
      if (before?.value === value) continue;
      if (before !== undefined) await this.store.change(before.id, value);
      this.kept.set(name, { id: before?.id ?? (await this.store.create({ name, value, server })), value });
    }
  }
}
