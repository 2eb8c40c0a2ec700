/**
 * What is run in a page, in a JavaScript world of its own: it sees the document, and the page can neither see nor
 * change it. Each is an expression of a function of one argument. A hostile document may have any size and depth, so
 * each has a budget of time and counts what it leaves out; names of form fields may hide properties (`form.children`),
 * so what fails is passed over.
 */

/**
 * `{limit, nameLength, textLength, budget}` → what can be used on the page; keeps the elements in the world for
 * `FIND_ELEMENT`.
 */
export const LIST_ELEMENTS = String.raw`(options) => {
  const end = performance.now() + options.budget;
  const ROLES = new Set(['button', 'link', 'checkbox', 'radio', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option', 'switch', 'textbox', 'searchbox', 'combobox', 'slider', 'spinbutton', 'treeitem']);
  const INPUTS = { checkbox: 'checkbox', radio: 'radio', button: 'button', submit: 'button', reset: 'button', image: 'button', range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file' };
  const short = (text) => String(text ?? '').replace(/\s+/g, ' ').trim().slice(0, options.nameLength);
  const textIn = (element) => {
    let text = '';
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let count = 0; count < 100 && text.length < options.nameLength * 2; count += 1) {
      const node = walker.nextNode();
      if (node === null) break;
      text += node.data.slice(0, options.nameLength * 2) + ' ';
    }
    return short(text);
  };
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name);
  const roleOf = (element) => {
    const given = (attribute(element, 'role') ?? '').split(' ')[0];
    if (ROLES.has(given)) return given;
    switch (element.localName) {
      case 'a': return attribute(element, 'href') === null ? null : 'link';
      case 'button': case 'summary': return 'button';
      case 'select': return 'combobox';
      case 'textarea': return 'textbox';
      case 'input': return element.type === 'hidden' ? null : INPUTS[element.type] ?? 'textbox';
      default: return null;
    }
  };
  const nameOf = (element, role) => {
    const named = (attribute(element, 'aria-labelledby') ?? '').split(/\s+/).slice(0, 4).flatMap((id) => (id === '' ? [] : [element.getRootNode().getElementById?.(id)])).filter(Boolean);
    const given = short(named.map(textIn).join(' ')) || short(attribute(element, 'aria-label'));
    if (given !== '') return given;
    const labels = element.labels;
    const labelled = labels instanceof NodeList && labels.length > 0 ? textIn(labels[0]) : '';
    const isField = element.localName === 'input' || element.localName === 'select' || element.localName === 'textarea';
    const own = isField ? (role === 'button' ? short(element.value) : '') : textIn(element);
    const picture = own === '' && !isField ? short(Element.prototype.querySelector.call(element, 'img[alt]')?.alt) : '';
    return labelled || own || picture || short(attribute(element, 'title')) || short(attribute(element, 'placeholder')) || short(attribute(element, 'alt')) || short(attribute(element, 'name'));
  };
  const about = (element, role) => {
    const facts = [];
    const tag = element.localName;
    const secret = globalThis.slipwaySecrets?.has(element) === true;
    if (element.disabled === true || attribute(element, 'aria-disabled') === 'true') facts.push('disabled');
    if (role === 'checkbox' || role === 'radio' || role === 'switch') facts.push(element.checked === true || attribute(element, 'aria-checked') === 'true' ? 'checked' : 'not checked');
    const expanded = attribute(element, 'aria-expanded');
    if (expanded !== null) facts.push(expanded === 'true' ? 'expanded' : 'collapsed');
    if (attribute(element, 'aria-selected') === 'true') facts.push('selected');
    if (tag === 'select') facts.push('options: ' + [...element.options].slice(0, 20).map((option) => (option.selected ? '*' : '') + short(option.text)).join(' | ') + (element.options.length > 20 ? ' | and ' + (element.options.length - 20) + ' more' : ''));
    else if (secret) { if (element.value !== '') facts.push('filled in with a secret'); }
    else if (tag === 'input' && element.type === 'password') facts.push(element.value === '' ? 'password' : 'password, filled in');
    else if ((tag === 'input' && role !== 'button' && role !== 'checkbox' && role !== 'radio' && role !== 'file') || tag === 'textarea') { if (element.value !== '') facts.push('value: ' + JSON.stringify(short(element.value))); }
    if (tag === 'input' && !['text', 'checkbox', 'radio', 'submit', 'button', 'password', 'file'].includes(element.type)) facts.push('type ' + element.type);
    return facts;
  };
  const found = [];
  let looked = 0, cut = false, text = '', last = null, pointer = new WeakSet();
  const visit = (root, depth) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      looked += 1;
      if (looked % 64 === 0 && performance.now() > end) { cut = true; return; }
      try {
        if (node.nodeType === 3) {
          if (text.length >= options.textLength || node.data.trim() === '') continue;
          const parent = node.parentElement;
          if (parent === null || /^(?:script|style|noscript|template|title)$/.test(parent.localName)) continue;
          const box = parent.getBoundingClientRect();
          if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth || !parent.checkVisibility({ visibilityProperty: true })) continue;
          text += (last === parent || last === null ? '' : ' ') + node.data.replace(/\s+/g, ' ').slice(0, options.textLength - text.length);
          last = parent;
          continue;
        }
        const element = node;
        if (element.shadowRoot && depth < 20) visit(element.shadowRoot, depth + 1);
        if (found.length >= 5000) { cut = true; continue; }
        let role = roleOf(element);
        if (role === null) {
          if (attribute(element, 'onclick') !== null || Number(attribute(element, 'tabindex') ?? -1) >= 0) role = 'clickable';
          else if (element.isContentEditable && !element.parentElement?.isContentEditable) role = 'textbox';
          else if (getComputedStyle(element).cursor === 'pointer') {
            pointer.add(element);
            const parent = element.parentElement;
            if (parent === null || !pointer.has(parent)) role = 'clickable';
          }
        } else if (getComputedStyle(element).cursor === 'pointer') pointer.add(element);
        if (role === null || element.localName === 'body' || element.localName === 'html') continue;
        const box = element.getBoundingClientRect();
        const hiddenFile = role === 'file';
        if (!hiddenFile && (box.width < 1 || box.height < 1 || !element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }))) continue;
        if (element.closest('[inert]') !== null) continue;
        found.push({ element, role, seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth });
      } catch {
        // An element that a page's own script has made unreadable is left out; the others are listed.
      }
    }
  };
  visit(document, 0);
  const chosen = new Set(found.filter(({ seen }) => seen).slice(0, options.limit));
  for (const candidate of found) if (chosen.size < options.limit) chosen.add(candidate);
  const kept = found.filter((candidate) => chosen.has(candidate));
  globalThis.slipwayElements = kept.map(({ element }) => element);
  const described = kept.map(({ element, role, seen }) => {
    try {
      return { role, name: nameOf(element, role), facts: about(element, role), seen };
    } catch {
      return { role, name: '', facts: [], seen };
    }
  });
  const scroller = document.scrollingElement ?? document.documentElement;
  return { elements: described, left: found.length - kept.length, cut, text: text.trim(), top: Math.round(scroller?.scrollTop ?? 0), height: Math.round(scroller?.scrollHeight ?? 0), shown: innerHeight, type: document.contentType };
}`;

/** A number of the last list → its element, or `null` when it has gone. */
export const FIND_ELEMENT = `(index) => {
  const element = globalThis.slipwayElements?.[index];
  return element !== undefined && element.isConnected ? element : null;
}`;

/** On an element: what it is, and whether a click on its middle would reach it. */
export const DESCRIBE_ELEMENT = `function () {
  const tag = this.localName;
  const type = tag === 'input' ? this.type : '';
  const box = this.getClientRects()[0] ?? this.getBoundingClientRect();
  const hit = this.getRootNode().elementFromPoint?.(box.left + box.width / 2, box.top + box.height / 2) ?? null;
  const reached = hit === null || hit === this || this.contains(hit) || hit.contains(this) || [...(this.labels ?? [])].some((label) => label.contains(hit));
  const link = this.closest('a[href]');
  return { tag, type, editable: this.isContentEditable === true, disabled: this.disabled === true, readOnly: this.readOnly === true, reached, cover: reached ? '' : hit.localName, href: link === null || typeof link.href !== 'string' ? '' : link.href };
}`;

/**
 * On a field: takes a secret in place of what it holds. From then on its value is in no state, and covered in pictures,
 * for as long as the document stands. In one go, unlike keys: what the page or a frame does meanwhile can have no part
 * of it go elsewhere. Answers with whether the field took it.
 */
export const TYPE_SECRET = `function (secret) {
  (globalThis.slipwaySecrets ??= new WeakSet()).add(this);
  this.style.setProperty('-webkit-text-security', 'disc', 'important');
  this.focus();
  this.select();
  if (this.getRootNode().activeElement !== this) return false;
  return document.execCommand('insertText', false, secret) && this.value !== '';
}`;

/** On an element: where its document is from. */
export const ORIGIN_OF = 'function () { return location.origin; }';

export const CLICK_ELEMENT = 'function () { this.click(); }';

/** On a field: it takes what is typed next, in place of all that is in it. */
export const FOCUS_FIELD = `function () {
  this.focus();
  if (typeof this.select === 'function') this.select();
  else getSelection()?.selectAllChildren(this);
  const root = this.getRootNode();
  return root.activeElement === this || this.contains(root.activeElement);
}`;

/** For a field without typing, such as a date: sets the value like a user. Returns the value afterwards. */
export const SET_VALUE = `function (value) {
  this.focus();
  this.value = value;
  this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return String(this.value);
}`;

/** On a list: chooses the option of this text or value. Answers with the options when there is none such. */
export const CHOOSE_OPTION = String.raw`function (wanted) {
  const text = (option) => option.text.replace(/\s+/g, ' ').trim();
  const options = [...this.options];
  const option = options.find((one) => text(one) === wanted) ?? options.find((one) => one.value === wanted) ?? options.find((one) => text(one).toLowerCase() === wanted.toLowerCase());
  if (option === undefined) return { chosen: null, options: options.slice(0, 50).map((one) => text(one).slice(0, 80)) };
  this.focus();
  if (this.multiple) option.selected = true;
  else this.selectedIndex = option.index;
  this.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return { chosen: text(option).slice(0, 200), options: [] };
}`;

/** `{links, length, budget}` → the page as Markdown, in its own order, without what is not shown. */
export const READ_CONTENT = String.raw`(options) => {
  const end = performance.now() + options.budget;
  const parts = [];
  let length = 0, looked = 0, cut = false;
  const put = (text) => {
    if (length >= options.length) { cut = true; return; }
    parts.push(text);
    length += text.length;
  };
  const SKIPPED = new Set(['script', 'style', 'noscript', 'template', 'svg', 'head', 'iframe', 'object', 'canvas']);
  const BLOCKS = new Set(['p', 'div', 'section', 'article', 'main', 'header', 'footer', 'nav', 'aside', 'ul', 'ol', 'table', 'form', 'fieldset', 'figure', 'figcaption', 'blockquote', 'dl', 'dt', 'dd', 'details', 'summary', 'address', 'hr']);
  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name) ?? '';
  const inside = (node, depth) => { for (let child = node.firstChild; child !== null && !cut; child = child.nextSibling) visit(child, depth + 1); };
  const visit = (node, depth) => {
    looked += 1;
    if (looked % 64 === 0 && performance.now() > end) cut = true;
    if (cut) return;
    if (node.nodeType === 3) return put(node.data.replace(/\s+/g, ' ').slice(0, options.length));
    if (node.nodeType !== 1) return;
    const tag = node.localName;
    if (SKIPPED.has(tag) || !Element.prototype.checkVisibility.call(node)) { if (tag !== 'summary' && getComputedStyle(node).display !== 'contents') return; }
    if (depth > 400) return put(String(node.textContent).slice(0, 10000));
    const root = node.shadowRoot ?? node;
    if (/^h[1-6]$/.test(tag)) { put('\n\n' + '#'.repeat(Number(tag[1])) + ' '); inside(root, depth); return put('\n\n'); }
    if (tag === 'br') return put('\n');
    if (tag === 'pre') return put('\n\n\x60\x60\x60\n' + String(node.innerText).slice(0, options.length) + '\n\x60\x60\x60\n\n');
    if (tag === 'li') { put('\n- '); return inside(root, depth); }
    if (tag === 'tr') { put('\n| '); inside(root, depth); return; }
    if (tag === 'td' || tag === 'th') { inside(root, depth); return put(' | '); }
    if (tag === 'img') return put(attribute(node, 'alt') === '' ? '' : '[picture: ' + attribute(node, 'alt').slice(0, 200) + ']');
    if (tag === 'input' || tag === 'select' || tag === 'textarea') return;
    if (tag === 'a' && options.links && attribute(node, 'href') !== '') {
      put('['); inside(root, depth);
      return put('](' + (typeof node.href === 'string' ? node.href.slice(0, 500) : '') + ')');
    }
    const block = BLOCKS.has(tag);
    if (block) put('\n\n');
    inside(root, depth);
    if (block) put('\n\n');
  };
  if (document.body !== null) visit(document.body, 0);
  return { text: parts.join('').slice(0, options.length), cut, type: document.contentType };
}`;
