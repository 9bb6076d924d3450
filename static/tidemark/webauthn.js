/* Security keys and passkeys. A form with data-webauthn asks the browser for a key's answer and sends it as JSON.
   The options stand beside the form (#webauthn-options), or are asked for where signing in begins without a name. */
(() => {
  "use strict";

  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const withBytes = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));

  /* What the key answered, with its bytes as url-safe base64. */
  function plain(credential) {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (credential.response[name]) response[name] = text(credential.response[name]);
    }
    return {
      id: credential.id,
      rawId: text(credential.rawId),
      type: credential.type,
      response,
      clientExtensionResults: credential.getClientExtensionResults(),
    };
  }

  function create(options, form) {
    const key = options.publicKey;
    const alone = form.elements.passwordless.checked;
    const publicKey = {
      ...key,
      challenge: bytes(key.challenge),
      user: { ...key.user, id: bytes(key.user.id) },
      excludeCredentials: withBytes(key.excludeCredentials),
      authenticatorSelection: {
        ...key.authenticatorSelection,
        residentKey: alone ? "required" : "discouraged",
        requireResidentKey: alone,
        ...(alone ? { userVerification: "required" } : {}),
      },
    };
    return navigator.credentials.create({ publicKey });
  }

  function get(options) {
    const key = options.publicKey;
    const publicKey = { ...key, challenge: bytes(key.challenge), allowCredentials: withBytes(key.allowCredentials) };
    return navigator.credentials.get({ publicKey });
  }

  async function optionsFor(form) {
    const beside = document.getElementById("webauthn-options");
    const data = beside && form.dataset.webauthn !== "login"
      ? JSON.parse(beside.textContent)
      : await (await fetch(form.action, { headers: { Accept: "application/json" } })).json();
    return data.creation_options || data.request_options;
  }

  for (const form of document.querySelectorAll("form[data-webauthn]")) {
    if (!window.PublicKeyCredential) continue;
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const said = form.querySelector(".wrong[hidden]") || form.querySelector(".wrong:last-of-type");
      try {
        const options = await optionsFor(form);
        const made = form.dataset.webauthn === "create" ? await create(options, form) : await get(options);
        form.elements.credential.value = JSON.stringify(plain(made));
        form.submit();
      } catch {
        // Whatever it was (turned away, no key, a page without a name), the person is told and may try again.
        said.textContent = form.dataset.failed;
        said.hidden = false;
      }
    });
  }
})();
