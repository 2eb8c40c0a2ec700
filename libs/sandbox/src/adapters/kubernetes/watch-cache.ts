import type { Tracked } from './cluster-objects.js';

/**
 * Deletions that are remembered, so that a late event does not bring back what is gone. A list forgets those before it.
 */
const DELETIONS_KEPT = 20_000;

/**
 * Versions of one resource grow; Kubernetes promises since 1.35 that they may be compared as numbers. They do not fit
 * into a double.
 */
export function compareVersions(left: string, right: string): number {
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * The objects of one resource as the API server reported them, in whatever order they arrived: what is repeated, late
 * or out of order changes nothing, and after a whole list it is the API server's state. Every method says whether
 * something visible changed.
 */
export class WatchCache<T extends Tracked> {
  private readonly objects = new Map<string, T>();
  private readonly deleted = new Map<string, Tracked>();
  /** Version of the last whole list: all before it is known. */
  private floor = '';

  /** @param carry what is kept of the object as it was. */
  constructor(private readonly carry: (before: T, after: T) => T = (_before, after) => after) {}

  get size(): number {
    return this.objects.size;
  }

  get(name: string): T | undefined {
    return this.objects.get(name);
  }

  values(): IterableIterator<T> {
    return this.objects.values();
  }

  /** It is known that no object of this name exists that did exist at `version`. `false` on doubt. */
  isAbsent(name: string, version: string): boolean {
    return (
      !this.objects.has(name) &&
      (compareVersions(this.floor, version) >= 0 ||
        compareVersions(this.deleted.get(name)?.version ?? '', version) >= 0)
    );
  }

  /** It exists, at this version. */
  set(object: T): boolean {
    const isNews = this.objects.has(object.name) || compareVersions(object.version, this.floor) > 0;
    return isNews && this.accept(object);
  }

  /** It was deleted, at this version. */
  delete(object: Tracked): boolean {
    const known = this.deleted.get(object.name);
    if (compareVersions(object.version, this.floor) > 0 && compareVersions(object.version, known?.version ?? '') > 0)
      this.remember(object);
    const before = this.objects.get(object.name);
    if (before === undefined || (before.uid !== object.uid && compareVersions(object.version, before.version) <= 0))
      return false;
    return this.objects.delete(object.name);
  }

  /**
   * All that exist, at `version`. Events that came while the list was read are newer than it, and stay. A list that is
   * older than the last one means that the cluster came back from a backup: then nothing of before counts.
   */
  replace(objects: Iterable<T>, version: string): boolean {
    let changed = false;
    if (compareVersions(version, this.floor) < 0) {
      changed = this.objects.size > 0;
      this.objects.clear();
      this.deleted.clear();
    }
    const listed = new Set<string>();
    for (const object of objects) {
      listed.add(object.name);
      changed = this.accept(object) || changed;
    }
    for (const { name, version: seen } of this.objects.values())
      if (!listed.has(name) && compareVersions(seen, version) <= 0) changed = this.objects.delete(name) || changed;
    for (const [name, deletion] of this.deleted)
      if (compareVersions(deletion.version, version) <= 0) this.deleted.delete(name);
    this.floor = version;
    return changed;
  }

  private accept(object: T): boolean {
    const before = this.objects.get(object.name);
    if (before !== undefined && compareVersions(object.version, before.version) <= 0) return false;
    const deletion = this.deleted.get(object.name);
    if (
      deletion !== undefined &&
      (deletion.uid === object.uid || compareVersions(object.version, deletion.version) <= 0)
    )
      return false;
    const after = before === undefined ? object : this.carry(before, object);
    this.objects.set(object.name, after);
    return before === undefined || isVisible(before, after);
  }

  private remember(object: Tracked): void {
    this.deleted.delete(object.name);
    this.deleted.set(object.name, { name: object.name, uid: object.uid, version: object.version });
    if (this.deleted.size <= DELETIONS_KEPT) return;
    for (const oldest of this.deleted.keys()) {
      this.deleted.delete(oldest);
      break;
    }
  }
}

function isVisible<T extends Tracked>(before: T, after: T): boolean {
  return JSON.stringify({ ...before, version: '' }) !== JSON.stringify({ ...after, version: '' });
}
