import { BlockList, isIP } from 'node:net';

interface Range {
  readonly address: string;
  readonly prefix: number;
  readonly family: 4 | 6;
}

/** A list of ranges, IPv4 and IPv6 apart: an IPv4 range is not about the mapped form of its addresses. */
export class AddressRanges {
  private readonly lists = { 4: new BlockList(), 6: new BlockList() };

  private constructor(private readonly ranges: readonly Range[]) {
    for (const { address, prefix, family } of ranges) this.lists[family].addSubnet(address, prefix, `ipv${family}`);
  }

  /** Of `10.0.0.0/8,fd00::/8`; a bare address is a range of one. @throws Error that names the entry. */
  static read(text: string): AddressRanges {
    const entries = text
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
    return new AddressRanges(
      entries.map((entry) => {
        const [address = '', bits, more] = entry.split('/');
        const family = isIP(address);
        const longest = family === 4 ? 32 : 128;
        const prefix = bits === undefined ? longest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
        if (more !== undefined || (family !== 4 && family !== 6) || address.includes('%') || !(prefix <= longest))
          throw new Error(`"${entry}" is no range, such as 10.0.0.0/8`);
        return { address, prefix, family };
      }),
    );
  }

  has(address: string): boolean {
    const family = isIP(address);
    return (
      (family === 4 || family === 6) && !address.includes('%') && this.lists[family].check(address, `ipv${family}`)
    );
  }

  /** Whether this very address was written, and not only a range around it. */
  names(address: string): boolean {
    return this.ranges.some(
      ({ prefix, family, address: written }) =>
        prefix === (family === 4 ? 32 : 128) && isIP(address) === family && AddressRanges.read(written).has(address),
    );
  }

  /** Whether any address is in both. */
  overlaps(other: AddressRanges): boolean {
    // Two ranges that share an address are one within the other.
    return (
      this.ranges.some(({ address }) => other.has(address)) || other.ranges.some(({ address }) => this.has(address))
    );
  }
}
