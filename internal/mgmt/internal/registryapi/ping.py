import base64, hashlib, http.client, json, ssl, sys

asked = json.load(sys.stdin)
said = {}
try:
    if asked["secure"]:
        context = ssl.create_default_context()
        if asked["exactly"]:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        elif asked["authorities"]:
            context.load_verify_locations(cadata=asked["authorities"])
        connection = http.client.HTTPSConnection(asked["server"], timeout=10, context=context)
    else:
        connection = http.client.HTTPConnection(asked["server"], timeout=10)
    connection.connect()
    if asked["exactly"] and hashlib.sha256(connection.sock.getpeercert(True)).hexdigest() != asked["exactly"]:
        raise ValueError("the server has another certificate than the configured one")
    headers = {}
    if asked["username"]:
        user = asked["username"] + ":" + asked["password"]
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    connection.request("GET", "/v2/", headers=headers)
    response = connection.getresponse()
    said = {"status": response.status, "challenge": response.getheader("WWW-Authenticate") or ""}
except Exception as failure:
    said = {"error": str(failure)}
print(json.dumps(said))
